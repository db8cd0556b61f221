#include "iwarp/mpa/responder.hpp"

#include <gtest/gtest.h>

#include "mpa/helpers.hpp"

namespace iwarp::mpa::test {
namespace {

StartupFrame peer_to_peer_request() {
  StartupFrame request;
  request.enhanced = EnhancedData{
      ConnectionModel::kPeerToPeer, {Rtr::kWrite, Rtr::kRead}, ReadDepth(8), ReadDepth(4)};
  return request;
}

Responder deciding(const StartupFrame& request) {
  Responder responder;
  const Bytes bytes = encoded(request);
  EXPECT_EQ(responder.receive(bytes), bytes.size());
  EXPECT_EQ(responder.state(), ResponderState::kDeciding);
  return responder;
}

StartupFrameView reply_in(const Answer& answer) {
  return StartupFrameView::parse(answer.reply, FrameKind::kReply).value();
}

TEST(Responder, TellsWhatTheInitiatorStated) {
  StartupFrame request = peer_to_peer_request();
  request.markers = Markers::kOn;
  request.crc = Crc::kOff;
  const Bytes data = pattern(100);
  request.private_data = data;
  const Responder responder = deciding(request);
  const auto told = responder.request();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->revision, Revision::k2);
  EXPECT_EQ(told->markers, Markers::kOn);
  EXPECT_EQ(told->crc, Crc::kOff);
  EXPECT_EQ(told->enhanced, request.enhanced);
  EXPECT_EQ(to_bytes(told->private_data), data);
  EXPECT_EQ(responder.max_private_data(), 508U);
}

TEST(Responder, KnowsNothingBeforeTheRequestIsWhole) {
  Responder responder;
  const Bytes bytes = encoded(peer_to_peer_request());
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    EXPECT_EQ(responder.receive({&bytes[i], 1}), 1U);
    EXPECT_EQ(responder.state(), ResponderState::kAwaitingRequest);
    EXPECT_FALSE(responder.request());
    EXPECT_EQ(responder.accept({}).error(), Error::kWrongState);
  }
  responder.receive({&bytes.back(), 1});
  EXPECT_EQ(responder.state(), ResponderState::kDeciding);
}

TEST(Responder, AcceptsPeerToPeerWithTheCommonRtrIndications) {
  Responder responder = deciding(peer_to_peer_request());
  AcceptOptions options;
  options.rtr = {Rtr::kSend, Rtr::kRead};
  const auto answer = responder.accept(options);
  ASSERT_TRUE(answer);
  EXPECT_EQ(to_bytes(answer->reply),
            from_hex("4d504120494420526570204672616d65 50 02 0004 8010 4008"));
  EXPECT_EQ(answer->expected_rtr, RtrSet({Rtr::kRead}));
  ASSERT_TRUE(answer->agreed);
  EXPECT_EQ(answer->agreed->model, ConnectionModel::kPeerToPeer);
  EXPECT_EQ(answer->agreed->depths, (Depths{16, 8}));
  EXPECT_EQ(answer->agreed->peer_ird, ReadDepth(8));
  EXPECT_EQ(answer->agreed->peer_ord, ReadDepth(4));
}

TEST(Responder, WithoutCommonRtrTellsItsOwn) {
  Responder responder = deciding(peer_to_peer_request());
  AcceptOptions options;
  options.rtr = {Rtr::kSend};
  const auto answer = responder.accept(options);
  ASSERT_TRUE(answer);
  EXPECT_EQ(reply_in(*answer).verdict(), Verdict::kAccepted);
  EXPECT_EQ(reply_in(*answer).enhanced()->rtr, RtrSet({Rtr::kSend}));
}

TEST(Responder, EchoesRevisionAndEnhancement) {
  for (Revision revision : {Revision::k1, Revision::k2}) {
    StartupFrame request;
    request.revision = revision;
    Responder responder = deciding(request);
    EXPECT_EQ(responder.max_private_data(), 512U);
    const auto answer = responder.accept({});
    ASSERT_TRUE(answer);
    EXPECT_EQ(reply_in(*answer).revision(), revision);
    EXPECT_EQ(reply_in(*answer).enhanced(), std::nullopt);
    EXPECT_EQ(answer->agreed->revision, revision);
    EXPECT_EQ(answer->agreed->depths, (Depths{16, 16}));
    EXPECT_FALSE(answer->agreed->peer_ird.is_stated());
    EXPECT_TRUE(answer->expected_rtr.empty());
  }
}

TEST(Responder, ClientServerReplyHasNoFlags) {
  StartupFrame request = peer_to_peer_request();
  request.enhanced->model = ConnectionModel::kClientServer;
  Responder responder = deciding(request);
  const auto answer = responder.accept({});
  ASSERT_TRUE(answer);
  EXPECT_EQ(to_bytes(answer->reply),
            from_hex("4d504120494420526570204672616d65 50 02 0004 0010 0008"));
}

TEST(Responder, ReplyDoesNotStateTheCounterpartOfWhatWasNotStated) {
  StartupFrame request = peer_to_peer_request();
  request.enhanced->ird = ReadDepth::not_stated();
  Responder no_ird = deciding(request);
  auto answer = no_ird.accept({});
  EXPECT_EQ(reply_in(*answer).enhanced()->ord, ReadDepth::not_stated());
  EXPECT_EQ(reply_in(*answer).enhanced()->ird, ReadDepth(16));
  EXPECT_EQ(answer->agreed->depths, (Depths{16, 16}));

  request = peer_to_peer_request();
  request.enhanced->ord = ReadDepth::not_stated();
  Responder no_ord = deciding(request);
  answer = no_ord.accept({});
  EXPECT_EQ(reply_in(*answer).enhanced()->ird, ReadDepth::not_stated());
  EXPECT_EQ(reply_in(*answer).enhanced()->ord, ReadDepth(8));
}

TEST(Responder, RejectsIfItsUlpNeedsMoreOrdThanTheInitiatorServes) {
  Responder responder = deciding(peer_to_peer_request());
  AcceptOptions options;
  options.required_ord = 9;
  options.depths.ird_limit = 32;
  const auto answer = responder.accept(options);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->agreed);
  EXPECT_EQ(responder.state(), ResponderState::kRejected);
  const StartupFrameView reply = reply_in(*answer);
  EXPECT_EQ(reply.verdict(), Verdict::kRejected);
  EXPECT_EQ(reply.enhanced()->ord, ReadDepth(9));
  EXPECT_EQ(reply.enhanced()->ird, ReadDepth(32));
  EXPECT_EQ(reply.enhanced()->model, ConnectionModel::kPeerToPeer);
}

TEST(Responder, RejectsTooGreatAnOrdOnlyIfToldTo) {
  StartupFrame request = peer_to_peer_request();
  request.enhanced->ord = ReadDepth(17);
  AcceptOptions options;
  Responder lenient = deciding(request);
  auto answer = lenient.accept(options);
  EXPECT_EQ(reply_in(*answer).verdict(), Verdict::kAccepted);
  EXPECT_EQ(reply_in(*answer).enhanced()->ird, ReadDepth(16));
  options.ird_shortage = IrdShortage::kReject;
  Responder strict = deciding(request);
  answer = strict.accept(options);
  EXPECT_EQ(reply_in(*answer).verdict(), Verdict::kRejected);
  EXPECT_EQ(reply_in(*answer).enhanced()->ird, ReadDepth(16));
}

TEST(Responder, DoesNotRejectForWhatIsNotStated) {
  StartupFrame request = peer_to_peer_request();
  request.enhanced->ird = ReadDepth::not_stated();
  request.enhanced->ord = ReadDepth::not_stated();
  AcceptOptions options;
  options.required_ord = 16;
  options.ird_shortage = IrdShortage::kReject;
  Responder responder = deciding(request);
  const auto answer = responder.accept(options);
  ASSERT_TRUE(answer);
  EXPECT_EQ(reply_in(*answer).verdict(), Verdict::kAccepted);
  EXPECT_EQ(answer->agreed->depths, (Depths{16, 16}));
}

TEST(Responder, RejectsWithWhatTheUlpSays) {
  Responder responder = deciding(peer_to_peer_request());
  const Bytes data = pattern(5);
  RejectOptions options;
  options.ird = ReadDepth(3);
  options.private_data = data;
  const auto answer = responder.reject(options);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->agreed);
  const StartupFrameView reply = reply_in(*answer);
  EXPECT_EQ(reply.verdict(), Verdict::kRejected);
  EXPECT_EQ(reply.enhanced()->ird, ReadDepth(3));
  EXPECT_FALSE(reply.enhanced()->ord.is_stated());
  EXPECT_EQ(to_bytes(reply.private_data()), data);
}

TEST(Responder, RefusesOptionsWithoutLosingTheRequest) {
  Responder responder = deciding(peer_to_peer_request());
  const Bytes data = pattern(509);
  AcceptOptions options;
  options.private_data = data;
  EXPECT_EQ(responder.accept(options).error(), Error::kPrivateDataTooLong);
  RejectOptions reject;
  reject.private_data = data;
  EXPECT_EQ(responder.reject(reject).error(), Error::kPrivateDataTooLong);
  options = {};
  options.rtr = {};
  EXPECT_EQ(responder.accept(options).error(), Error::kInvalidOptions);
  options = {};
  options.required_ord = 17;
  EXPECT_EQ(responder.accept(options).error(), Error::kInvalidOptions);
  EXPECT_EQ(responder.state(), ResponderState::kDeciding);
  EXPECT_TRUE(responder.accept({}));
}

TEST(Responder, DetectsThatThePeerIsAResponderToo) {
  Responder responder;
  StartupFrame reply;
  reply.kind = FrameKind::kReply;
  responder.receive(encoded(reply));
  EXPECT_EQ(responder.state(), ResponderState::kFailed);
  EXPECT_EQ(responder.error(), Error::kBothResponders);
}

TEST(Responder, RefusesRevisionsItDoesNotSpeakByClosing) {
  for (const char* revision : {"00", "03", "ff"}) {
    Responder responder;
    responder.receive(from_hex(std::string("4d504120494420526571204672616d65 c0") + revision));
    EXPECT_EQ(responder.state(), ResponderState::kFailed);
    EXPECT_EQ(responder.error(), Error::kUnsupportedRevision);
    EXPECT_EQ(responder.accept({}).error(), Error::kWrongState);
  }
}

TEST(Responder, FailsIfTheInitiatorDoesNotWaitForTheReply) {
  Bytes bytes = encoded(peer_to_peer_request());
  bytes.push_back(std::byte{0});
  Responder at_once;
  EXPECT_EQ(at_once.receive(bytes), bytes.size() - 1);
  EXPECT_EQ(at_once.error(), Error::kUnexpectedOctets);
  Responder later = deciding(peer_to_peer_request());
  later.receive(ConstBytes(bytes).last(1));
  EXPECT_EQ(later.state(), ResponderState::kFailed);
}

TEST(Responder, LeavesWhatFollowsTheReplyToTheCaller) {
  Responder responder = deciding(peer_to_peer_request());
  ASSERT_TRUE(responder.accept({}));
  EXPECT_EQ(responder.receive(pattern(20)), 0U);
  EXPECT_EQ(responder.state(), ResponderState::kAccepted);
}

// --- The whole grid of states and events ---------------------------------------------------------

constexpr ResponderState kResponderStates[] = {ResponderState::kAwaitingRequest,
                                               ResponderState::kDeciding, ResponderState::kAccepted,
                                               ResponderState::kRejected, ResponderState::kFailed};
constexpr ResponderEvent kResponderEvents[] = {
    ResponderEvent::kValidRequest,    ResponderEvent::kInvalidRequest,
    ResponderEvent::kPrematureOctets, ResponderEvent::kAccept,
    ResponderEvent::kReject,          ResponderEvent::kConnectionClosed,
    ResponderEvent::kTimeout,         ResponderEvent::kLocalError};
static_assert(std::size(kResponderStates) == static_cast<std::size_t>(ResponderState::kFailed) + 1);
static_assert(std::size(kResponderEvents) ==
              static_cast<std::size_t>(ResponderEvent::kLocalError) + 1);

void cause(Responder& responder, ResponderEvent event) {
  Bytes request = encoded(peer_to_peer_request());
  switch (event) {
    case ResponderEvent::kValidRequest: responder.receive(request); break;
    case ResponderEvent::kInvalidRequest: responder.receive(from_hex("00")); break;
    case ResponderEvent::kPrematureOctets:
      request.push_back(std::byte{0});
      responder.receive(request);
      break;
    case ResponderEvent::kAccept: static_cast<void>(responder.accept({})); break;
    case ResponderEvent::kReject: static_cast<void>(responder.reject({})); break;
    case ResponderEvent::kConnectionClosed: responder.on_closed(); break;
    case ResponderEvent::kTimeout: responder.on_timeout(); break;
    case ResponderEvent::kLocalError: responder.on_local_error(); break;
  }
}

Responder responder_in(ResponderState state) {
  Responder responder;
  if (state == ResponderState::kAwaitingRequest) return responder;
  cause(responder, ResponderEvent::kValidRequest);
  if (state == ResponderState::kAccepted) cause(responder, ResponderEvent::kAccept);
  if (state == ResponderState::kRejected) cause(responder, ResponderEvent::kReject);
  if (state == ResponderState::kFailed) cause(responder, ResponderEvent::kTimeout);
  EXPECT_EQ(responder.state(), state);
  return responder;
}

// RFC 5044 §7.1.2 rule 2, in words rather than as a table.
ResponderState expected_state(ResponderState state, ResponderEvent event) {
  const bool waiting = state == ResponderState::kAwaitingRequest;
  if (!waiting && state != ResponderState::kDeciding) return state;
  switch (event) {
    case ResponderEvent::kValidRequest: return ResponderState::kDeciding;
    case ResponderEvent::kInvalidRequest: return waiting ? ResponderState::kFailed : state;
    case ResponderEvent::kAccept: return waiting ? state : ResponderState::kAccepted;
    case ResponderEvent::kReject: return waiting ? state : ResponderState::kRejected;
    case ResponderEvent::kPrematureOctets:
    case ResponderEvent::kConnectionClosed:
    case ResponderEvent::kTimeout:
    case ResponderEvent::kLocalError: break;
  }
  return ResponderState::kFailed;
}

// A second frame in kDeciding is octets too many, whatever it holds.
bool is_frame(ResponderEvent event) {
  return event == ResponderEvent::kValidRequest || event == ResponderEvent::kInvalidRequest;
}

TEST(ResponderGrid, EveryEventInEveryStateLeadsWhereTheRfcSays) {
  for (ResponderState state : kResponderStates) {
    for (ResponderEvent event : kResponderEvents) {
      EXPECT_EQ(next_state(state, event), expected_state(state, event));
      Responder responder = responder_in(state);
      cause(responder, event);
      const ResponderEvent seen = state == ResponderState::kDeciding && is_frame(event)
                                      ? ResponderEvent::kPrematureOctets
                                      : event;
      EXPECT_EQ(responder.state(), expected_state(state, seen));
    }
  }
}

TEST(ResponderGrid, FailureKeepsItsFirstReason) {
  for (ResponderEvent event : kResponderEvents) {
    Responder responder = responder_in(ResponderState::kFailed);
    cause(responder, event);
    EXPECT_EQ(responder.error(), Error::kTimeout);
  }
}

}  // namespace
}  // namespace iwarp::mpa::test
