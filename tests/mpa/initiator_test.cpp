#include "iwarp/mpa/initiator.hpp"

#include <gtest/gtest.h>

#include "mpa/helpers.hpp"

namespace iwarp::mpa::test {
namespace {

Initiator start(const InitiatorOptions& options = {}) {
  return std::move(Initiator::create(options)).value();
}

// What a plain responder answers to the default options.
StartupFrame good_reply() {
  StartupFrame reply;
  reply.kind = FrameKind::kReply;
  reply.enhanced =
      EnhancedData{ConnectionModel::kPeerToPeer, {Rtr::kWrite}, ReadDepth(16), ReadDepth(16)};
  return reply;
}

std::size_t feed(Initiator& initiator, const StartupFrame& reply) {
  return initiator.receive(encoded(reply));
}

Failed failure_of(const Initiator& initiator) {
  const InitiatorOutcome outcome = initiator.outcome();
  const auto* failed = std::get_if<Failed>(&outcome);
  EXPECT_NE(failed, nullptr);
  return failed != nullptr ? *failed : Failed{};
}

Accepted acceptance_of(const Initiator& initiator) {
  const InitiatorOutcome outcome = initiator.outcome();
  const auto* accepted = std::get_if<Accepted>(&outcome);
  EXPECT_NE(accepted, nullptr);
  return accepted != nullptr ? *accepted : Accepted{};
}

TEST(InitiatorRequest, DefaultAsksForPeerToPeerWithWriteAndReadRtr) {
  EXPECT_EQ(to_bytes(start().request()),
            from_hex("4d504120494420526571204672616d65 50 02 0004 8010 c010"));
}

TEST(InitiatorRequest, StatesWhatItsOptionsSay) {
  InitiatorOptions options;
  const Bytes data = from_hex("c0ffee");
  options.private_data = data;
  options.markers_rx = Markers::kOn;
  options.crc = Crc::kOff;
  options.peer_to_peer = PeerToPeer::kOff;
  options.depths.ird = 2;
  options.depths.ord_statement = DepthStatement::kLeftToUlp;
  EXPECT_EQ(to_bytes(start(options).request()),
            from_hex("4d504120494420526571204672616d65 90 02 0007 0002 3fff c0ffee"));
  options.format = StartupFormat::kRevision2;
  EXPECT_EQ(to_bytes(start(options).request()),
            from_hex("4d504120494420526571204672616d65 80 02 0003 c0ffee"));
  options.format = StartupFormat::kRevision1;
  EXPECT_EQ(to_bytes(start(options).request()),
            from_hex("4d504120494420526571204672616d65 80 01 0003 c0ffee"));
}

TEST(InitiatorOptions, ThatContradictThemselvesAreRefused) {
  const auto error = [](const InitiatorOptions& options) {
    return Initiator::create(options).error();
  };
  InitiatorOptions options;
  options.rtr = {};
  EXPECT_EQ(error(options), Error::kInvalidOptions);
  options = {};
  options.format = StartupFormat::kRevision2;
  options.peer_to_peer = PeerToPeer::kRequired;
  EXPECT_EQ(error(options), Error::kInvalidOptions);
  options = {};
  options.depths.ird = 17;
  EXPECT_EQ(error(options), Error::kInvalidOptions);
}

TEST(InitiatorOptions, PrivateDataHasItsLimits) {
  const Bytes data = pattern(513);
  for (StartupFormat format : {StartupFormat::kRevision1, StartupFormat::kEnhanced}) {
    const std::size_t most = format == StartupFormat::kEnhanced ? 508 : 512;
    InitiatorOptions options;
    options.format = format;
    options.private_data = ConstBytes(data).first(most);
    EXPECT_TRUE(Initiator::create(options));
    options.private_data = ConstBytes(data).first(most + 1);
    EXPECT_EQ(Initiator::create(options).error(), Error::kPrivateDataTooLong);
  }
}

TEST(Initiator, AgreesOnWhatBothEndsState) {
  InitiatorOptions options;
  options.crc = Crc::kOff;
  options.markers_rx = Markers::kOn;
  Initiator initiator = start(options);
  StartupFrame reply = good_reply();
  reply.enhanced->ird = ReadDepth(5);
  reply.enhanced->ord = ReadDepth(7);
  const Bytes data = pattern(20);
  reply.private_data = data;
  EXPECT_EQ(feed(initiator, reply), 44U);

  const Accepted accepted = acceptance_of(initiator);
  EXPECT_EQ(accepted.agreed.revision, Revision::k2);
  EXPECT_EQ(accepted.agreed.modes, (StreamModes{Crc::kOn, Markers::kOff, Markers::kOn}));
  EXPECT_EQ(accepted.agreed.model, ConnectionModel::kPeerToPeer);
  EXPECT_EQ(accepted.agreed.depths, (Depths{16, 5}));
  EXPECT_EQ(accepted.agreed.peer_ird, ReadDepth(5));
  EXPECT_EQ(accepted.agreed.peer_ord, ReadDepth(7));
  EXPECT_EQ(accepted.rtr, Rtr::kWrite);
  EXPECT_EQ(to_bytes(accepted.private_data), data);
}

TEST(Initiator, LeavesFpdusBehindTheReplyToTheCaller) {
  Initiator initiator = start();
  Bytes bytes = encoded(good_reply());
  const std::size_t size = bytes.size();
  bytes.resize(size + 50);
  EXPECT_EQ(initiator.receive(bytes), size);
  EXPECT_EQ(initiator.state(), InitiatorState::kAccepted);
  EXPECT_EQ(initiator.receive(ConstBytes(bytes).subspan(size)), 0U);
}

TEST(Initiator, StaysPendingUntilTheLastOctetOfTheReply) {
  Initiator initiator = start();
  const Bytes bytes = encoded(good_reply());
  for (const std::byte& octet : bytes) {
    EXPECT_TRUE(std::holds_alternative<Pending>(initiator.outcome()));
    EXPECT_EQ(initiator.receive({&octet, 1}), 1U);
  }
  EXPECT_EQ(initiator.state(), InitiatorState::kAccepted);
}

TEST(Initiator, RejectionCarriesThePeersNeeds) {
  Initiator initiator = start();
  StartupFrame reply = good_reply();
  reply.verdict = Verdict::kRejected;
  reply.enhanced->ord = ReadDepth(99);
  const Bytes data = pattern(3);
  reply.private_data = data;
  feed(initiator, reply);
  const InitiatorOutcome outcome = initiator.outcome();
  const auto& rejected = std::get<Rejected>(outcome);
  EXPECT_EQ(rejected.peer, reply.enhanced);
  EXPECT_EQ(to_bytes(rejected.private_data), data);
}

TEST(Initiator, UnenhancedRejectionOfAnEnhancedRequestIsARejection) {
  for (Revision revision : {Revision::k1, Revision::k2}) {
    Initiator initiator = start();
    StartupFrame reply;
    reply.kind = FrameKind::kReply;
    reply.revision = revision;
    reply.verdict = Verdict::kRejected;
    feed(initiator, reply);
    EXPECT_EQ(initiator.state(), InitiatorState::kRejected);
  }
}

TEST(Initiator, DetectsThatThePeerIsAnInitiatorToo) {
  Initiator initiator = start();
  initiator.receive(start().request());
  const Failed failed = failure_of(initiator);
  EXPECT_EQ(failed.error, Error::kBothInitiators);
  EXPECT_FALSE(failed.terminate);
  EXPECT_EQ(failed.fallback, Fallback::kForbidden);
}

TEST(Initiator, ReplyOfAnotherRevisionFails) {
  InitiatorOptions options;
  options.format = StartupFormat::kRevision2;
  Initiator initiator = start(options);
  StartupFrame reply;
  reply.kind = FrameKind::kReply;
  reply.revision = Revision::k1;
  feed(initiator, reply);
  EXPECT_EQ(failure_of(initiator).error, Error::kRevisionMismatch);
}

TEST(Initiator, ReplyIsEnhancedExactlyIfTheRequestWas) {
  StartupFrame plain;
  plain.kind = FrameKind::kReply;
  Initiator enhanced = start();
  feed(enhanced, plain);
  EXPECT_EQ(failure_of(enhanced).error, Error::kUnenhancedReply);
  EXPECT_FALSE(failure_of(enhanced).terminate);

  InitiatorOptions options;
  options.format = StartupFormat::kRevision2;
  Initiator unenhanced = start(options);
  feed(unenhanced, good_reply());
  EXPECT_EQ(failure_of(unenhanced).error, Error::kUnexpectedEnhancedReply);
}

TEST(Initiator, UnenhancedStartupLeavesTheDepthsAlone) {
  for (StartupFormat format : {StartupFormat::kRevision1, StartupFormat::kRevision2}) {
    InitiatorOptions options;
    options.format = format;
    Initiator initiator = start(options);
    StartupFrame reply;
    reply.kind = FrameKind::kReply;
    reply.revision = format == StartupFormat::kRevision1 ? Revision::k1 : Revision::k2;
    feed(initiator, reply);
    const Accepted accepted = acceptance_of(initiator);
    EXPECT_EQ(accepted.agreed.depths, (Depths{16, 16}));
    EXPECT_EQ(accepted.agreed.model, ConnectionModel::kClientServer);
    EXPECT_FALSE(accepted.agreed.peer_ird.is_stated());
    EXPECT_EQ(accepted.rtr, Rtr::kNone);
  }
}

TEST(Initiator, TerminatesWithCode6IfItCannotServeThePeersReads) {
  Initiator initiator = start();
  StartupFrame reply = good_reply();
  reply.enhanced->ord = ReadDepth(17);
  reply.crc = Crc::kOff;
  reply.markers = Markers::kOn;
  feed(initiator, reply);
  const Failed failed = failure_of(initiator);
  EXPECT_EQ(failed.error, Error::kInsufficientIrd);
  ASSERT_TRUE(failed.terminate);
  EXPECT_EQ(failed.terminate->code, 6);
  EXPECT_EQ(failed.terminate->modes, (StreamModes{Crc::kOn, Markers::kOn, Markers::kOff}));
}

TEST(Initiator, TerminatesWithCode7IfNoRtrSuits) {
  Initiator initiator = start();
  StartupFrame reply = good_reply();
  reply.enhanced->rtr = {Rtr::kSend};
  feed(initiator, reply);
  EXPECT_EQ(failure_of(initiator).error, Error::kNoMatchingRtr);
  ASSERT_TRUE(failure_of(initiator).terminate);
  EXPECT_EQ(failure_of(initiator).terminate->code, 7);
}

TEST(Initiator, TerminatesWithCode7IfTheModelsDiffer) {
  Initiator asked = start();
  StartupFrame reply = good_reply();
  reply.enhanced->model = ConnectionModel::kClientServer;
  feed(asked, reply);
  EXPECT_EQ(failure_of(asked).terminate->code, 7);

  InitiatorOptions options;
  options.peer_to_peer = PeerToPeer::kOff;
  Initiator did_not_ask = start(options);
  feed(did_not_ask, good_reply());
  EXPECT_EQ(failure_of(did_not_ask).terminate->code, 7);
}

TEST(Initiator, LocalErrorIsToldByATerminateOnlyBehindAnAcceptingReply) {
  Initiator early = start();
  early.on_local_error();
  EXPECT_EQ(failure_of(early).error, Error::kLocalCatastrophic);
  EXPECT_FALSE(failure_of(early).terminate);

  Initiator late = start();
  feed(late, good_reply());
  late.on_local_error();
  ASSERT_TRUE(failure_of(late).terminate);
  EXPECT_EQ(failure_of(late).terminate->code, 5);
}

TEST(InitiatorFallback, IsPermittedIfTheConnectionClosesWithoutAnAnswer) {
  for (StartupFormat format : {StartupFormat::kEnhanced, StartupFormat::kRevision2}) {
    InitiatorOptions options;
    options.format = format;
    Initiator initiator = start(options);
    initiator.on_closed();
    EXPECT_EQ(failure_of(initiator).error, Error::kConnectionLost);
    EXPECT_EQ(failure_of(initiator).fallback, Fallback::kPermitted);
  }
}

TEST(InitiatorFallback, IsForbiddenInEveryOtherCase) {
  const auto closed_with = [](const InitiatorOptions& options, std::size_t reply_octets) {
    Initiator initiator = start(options);
    const Bytes reply = encoded(good_reply());
    initiator.receive(ConstBytes(reply).first(reply_octets));
    initiator.on_closed();
    return failure_of(initiator).fallback;
  };
  EXPECT_EQ(closed_with({}, 1), Fallback::kForbidden);
  InitiatorOptions options;
  options.peer_to_peer = PeerToPeer::kRequired;
  EXPECT_EQ(closed_with(options, 0), Fallback::kForbidden);
  options = {};
  options.fallback = Fallback::kForbidden;
  EXPECT_EQ(closed_with(options, 0), Fallback::kForbidden);
  EXPECT_EQ(closed_with(revision_1_fallback({}), 0), Fallback::kForbidden);

  Initiator timed_out = start();
  timed_out.on_timeout();
  EXPECT_EQ(failure_of(timed_out).error, Error::kTimeout);
  EXPECT_EQ(failure_of(timed_out).fallback, Fallback::kForbidden);
}

TEST(InitiatorFallback, SpeaksRevision1WithoutEnhancedData) {
  EXPECT_EQ(to_bytes(start(revision_1_fallback({})).request()),
            from_hex("4d504120494420526571204672616d65 40 01 0000"));
}

// --- The whole grid of states and events ---------------------------------------------------------

constexpr InitiatorState kInitiatorStates[] = {InitiatorState::kAwaitingReply,
                                               InitiatorState::kAccepted, InitiatorState::kRejected,
                                               InitiatorState::kFailed};
constexpr InitiatorEvent kInitiatorEvents[] = {
    InitiatorEvent::kAcceptingReply,   InitiatorEvent::kRejectingReply,
    InitiatorEvent::kInvalidReply,     InitiatorEvent::kUnsuitableReply,
    InitiatorEvent::kConnectionClosed, InitiatorEvent::kTimeout,
    InitiatorEvent::kLocalError};
static_assert(std::size(kInitiatorStates) == static_cast<std::size_t>(InitiatorState::kFailed) + 1);
static_assert(std::size(kInitiatorEvents) ==
              static_cast<std::size_t>(InitiatorEvent::kLocalError) + 1);

void cause(Initiator& initiator, InitiatorEvent event) {
  StartupFrame reply = good_reply();
  switch (event) {
    case InitiatorEvent::kAcceptingReply: feed(initiator, reply); break;
    case InitiatorEvent::kRejectingReply:
      reply.verdict = Verdict::kRejected;
      feed(initiator, reply);
      break;
    case InitiatorEvent::kInvalidReply: initiator.receive(from_hex("00")); break;
    case InitiatorEvent::kUnsuitableReply:
      reply.enhanced->rtr = {};
      feed(initiator, reply);
      break;
    case InitiatorEvent::kConnectionClosed: initiator.on_closed(); break;
    case InitiatorEvent::kTimeout: initiator.on_timeout(); break;
    case InitiatorEvent::kLocalError: initiator.on_local_error(); break;
  }
}

Initiator initiator_in(InitiatorState state) {
  Initiator initiator = start();
  switch (state) {
    case InitiatorState::kAwaitingReply: break;
    case InitiatorState::kAccepted: cause(initiator, InitiatorEvent::kAcceptingReply); break;
    case InitiatorState::kRejected: cause(initiator, InitiatorEvent::kRejectingReply); break;
    case InitiatorState::kFailed: cause(initiator, InitiatorEvent::kTimeout); break;
  }
  EXPECT_EQ(initiator.state(), state);
  return initiator;
}

// RFC 5044 §7.1.2 rule 3, in words rather than as a table.
InitiatorState expected_state(InitiatorState state, InitiatorEvent event) {
  if (state == InitiatorState::kAccepted && event == InitiatorEvent::kLocalError) {
    return InitiatorState::kFailed;
  }
  if (state != InitiatorState::kAwaitingReply) return state;
  if (event == InitiatorEvent::kAcceptingReply) return InitiatorState::kAccepted;
  if (event == InitiatorEvent::kRejectingReply) return InitiatorState::kRejected;
  return InitiatorState::kFailed;
}

TEST(InitiatorGrid, EveryEventInEveryStateLeadsWhereTheRfcSays) {
  for (InitiatorState state : kInitiatorStates) {
    for (InitiatorEvent event : kInitiatorEvents) {
      Initiator initiator = initiator_in(state);
      cause(initiator, event);
      EXPECT_EQ(initiator.state(), expected_state(state, event));
      EXPECT_EQ(next_state(state, event), expected_state(state, event));
    }
  }
}

TEST(InitiatorGrid, FailureKeepsItsFirstReason) {
  for (InitiatorEvent event : kInitiatorEvents) {
    Initiator initiator = initiator_in(InitiatorState::kFailed);
    cause(initiator, event);
    EXPECT_EQ(failure_of(initiator).error, Error::kTimeout);
    EXPECT_FALSE(failure_of(initiator).terminate);
  }
}

}  // namespace
}  // namespace iwarp::mpa::test
