// Both ends of the start-up against each other, over all combinations of their options.
#include <gtest/gtest.h>

#include "iwarp/mpa/initiator.hpp"
#include "iwarp/mpa/responder.hpp"
#include "mpa/helpers.hpp"

namespace iwarp::mpa::test {
namespace {

struct Handshake {
  InitiatorOptions asks;
  AcceptOptions accepts;
  Initiator initiator = Initiator::create(asks).value();
  Responder responder;
  Answer answer;

  Handshake(const InitiatorOptions& initiator_options, const AcceptOptions& responder_options)
      : asks(initiator_options), accepts(responder_options) {
    responder.receive(initiator.request());
    answer = responder.accept(accepts).value();
    EXPECT_EQ(initiator.receive(answer.reply), answer.reply.size());
  }

  [[nodiscard]] bool enhanced() const { return asks.format == StartupFormat::kEnhanced; }
  [[nodiscard]] bool peer_to_peer() const {
    return enhanced() && asks.peer_to_peer != PeerToPeer::kOff;
  }
  [[nodiscard]] bool states_ird() const {
    return enhanced() && asks.depths.ird_statement == DepthStatement::kStated;
  }
  [[nodiscard]] bool states_ord() const {
    return enhanced() && asks.depths.ord_statement == DepthStatement::kStated;
  }
};

void expect_same_stream(const Handshake& shake, const Agreed& initiator, const Agreed& responder) {
  const bool crc = shake.asks.crc == Crc::kOn || shake.accepts.crc == Crc::kOn;
  EXPECT_EQ(initiator.modes.crc, crc ? Crc::kOn : Crc::kOff);
  EXPECT_EQ(responder.modes.crc, initiator.modes.crc);
  EXPECT_EQ(initiator.modes.markers_rx, shake.asks.markers_rx);
  EXPECT_EQ(responder.modes.markers_tx, shake.asks.markers_rx);
  EXPECT_EQ(responder.modes.markers_rx, shake.accepts.markers_rx);
  EXPECT_EQ(initiator.modes.markers_tx, shake.accepts.markers_rx);
  EXPECT_EQ(initiator.revision, responder.revision);
  EXPECT_EQ(initiator.model, responder.model);
}

void expect_depths_fit(const Handshake& shake, const Agreed& initiator, const Agreed& responder) {
  const bool responder_states_ird = initiator.peer_ird.is_stated();
  const bool responder_states_ord = initiator.peer_ord.is_stated();
  if (responder_states_ird) {
    EXPECT_EQ(initiator.peer_ird.value(), responder.depths.ird);
    EXPECT_LE(initiator.depths.ord, responder.depths.ird);
  } else {
    EXPECT_EQ(initiator.depths.ord, shake.asks.depths.ord);
  }
  if (responder_states_ord) {
    EXPECT_EQ(initiator.peer_ord.value(), responder.depths.ord);
    EXPECT_LE(responder.depths.ord, initiator.depths.ird);
  }
  if (!shake.states_ird()) {
    EXPECT_EQ(responder.depths.ord, shake.accepts.depths.ord);
  }
  EXPECT_LE(responder_states_ird, shake.states_ord());
  EXPECT_LE(responder_states_ord, shake.states_ird());
  EXPECT_GE(initiator.depths.ird, shake.asks.depths.ird);
  EXPECT_LE(initiator.depths.ird, shake.asks.depths.ird_limit);
  EXPECT_GE(responder.depths.ird, shake.accepts.depths.ird);
}

void expect_rtr_fits(const Handshake& shake, const Accepted& accepted) {
  if (!shake.peer_to_peer()) {
    EXPECT_EQ(accepted.rtr, Rtr::kNone);
    EXPECT_TRUE(shake.answer.expected_rtr.empty());
    return;
  }
  EXPECT_EQ(accepted.rtr, choose_rtr(shake.asks.rtr, shake.accepts.rtr));
  EXPECT_TRUE(shake.answer.expected_rtr.contains(accepted.rtr));
  if (shake.answer.expected_rtr.contains(Rtr::kRead)) {
    EXPECT_GE(shake.answer.agreed->depths.ird, 1);
  }
}

// What the options say must come of it: acceptance, Terminate 7, or rejection.
void expect_fitting_outcome(const Handshake& shake) {
  const InitiatorOutcome outcome = shake.initiator.outcome();
  const std::uint16_t required = shake.accepts.required_ord;
  if (shake.states_ird() && shake.asks.depths.ird < required) {
    ASSERT_TRUE(std::holds_alternative<Rejected>(outcome));
    EXPECT_EQ(std::get<Rejected>(outcome).peer->ord, ReadDepth(required));
    EXPECT_FALSE(shake.answer.agreed);
    return;
  }
  ASSERT_TRUE(shake.answer.agreed);
  if (shake.peer_to_peer() && (shake.asks.rtr & shake.accepts.rtr).empty()) {
    ASSERT_TRUE(std::holds_alternative<Failed>(outcome));
    EXPECT_EQ(std::get<Failed>(outcome).terminate->code, 7);
    EXPECT_EQ(std::get<Failed>(outcome).terminate->modes.crc, shake.answer.agreed->modes.crc);
    return;
  }
  ASSERT_TRUE(std::holds_alternative<Accepted>(outcome));
  const auto& accepted = std::get<Accepted>(outcome);
  expect_same_stream(shake, accepted.agreed, *shake.answer.agreed);
  expect_depths_fit(shake, accepted.agreed, *shake.answer.agreed);
  expect_rtr_fits(shake, accepted);
}

std::vector<RtrSet> rtr_sets() {
  return {{Rtr::kSend},
          {Rtr::kWrite},
          {Rtr::kRead},
          {Rtr::kSend, Rtr::kWrite},
          {Rtr::kSend, Rtr::kRead},
          {Rtr::kWrite, Rtr::kRead},
          RtrSet::all()};
}

std::vector<DepthOptions> depth_choices() {
  std::vector<DepthOptions> choices;
  for (DepthStatement ird : {DepthStatement::kStated, DepthStatement::kLeftToUlp}) {
    for (DepthStatement ord : {DepthStatement::kStated, DepthStatement::kLeftToUlp}) {
      choices.push_back({0, 0, 0, ird, ord});
      choices.push_back({0, 3, 2, ird, ord});
      choices.push_back({4, 1, 4, ird, ord});
      choices.push_back({4, 20, 16, ird, ord});
      choices.push_back({kMaxReadDepth, kMaxReadDepth, kMaxReadDepth, ird, ord});
    }
  }
  return choices;
}

TEST(NegotiationGrid, AllDepthsAndRtrIndicationsEndInAgreement) {
  for (const DepthOptions& ours : depth_choices()) {
    for (const DepthOptions& theirs : depth_choices()) {
      for (RtrSet our_rtr : rtr_sets()) {
        for (RtrSet their_rtr : rtr_sets()) {
          for (PeerToPeer peer_to_peer : {PeerToPeer::kOff, PeerToPeer::kRequired}) {
            InitiatorOptions asks;
            asks.depths = ours;
            asks.rtr = our_rtr;
            asks.peer_to_peer = peer_to_peer;
            AcceptOptions accepts;
            accepts.depths = theirs;
            accepts.rtr = their_rtr;
            expect_fitting_outcome({asks, accepts});
            if (::testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST(NegotiationGrid, AllFormatsAndStreamModesEndInAgreement) {
  for (StartupFormat format :
       {StartupFormat::kRevision1, StartupFormat::kRevision2, StartupFormat::kEnhanced}) {
    for (PeerToPeer peer_to_peer : {PeerToPeer::kOff, PeerToPeer::kPreferred}) {
      for (unsigned bits = 0; bits < 16; ++bits) {
        for (std::uint16_t required : {std::uint16_t{0}, std::uint16_t{16}}) {
          InitiatorOptions asks;
          asks.format = format;
          asks.peer_to_peer = peer_to_peer;
          asks.depths.ird = 8;
          asks.crc = kCrcs[bits & 1U];
          asks.markers_rx = kMarkersChoices[bits >> 1U & 1U];
          AcceptOptions accepts;
          accepts.required_ord = required;
          accepts.crc = kCrcs[bits >> 2U & 1U];
          accepts.markers_rx = kMarkersChoices[bits >> 3U];
          expect_fitting_outcome({asks, accepts});
        }
      }
    }
  }
}

TEST(NegotiationGrid, PrivateDataOfAnyLegalLengthReachesTheOtherEnd) {
  const Bytes data = pattern(512);
  for (StartupFormat format : {StartupFormat::kRevision1, StartupFormat::kEnhanced}) {
    const std::size_t most = format == StartupFormat::kEnhanced ? 508 : 512;
    for (std::size_t size = 0; size <= most; ++size) {
      InitiatorOptions asks;
      asks.format = format;
      asks.private_data = ConstBytes(data).first(size);
      AcceptOptions accepts;
      accepts.private_data = ConstBytes(data).last(most - size);
      const Handshake shake(asks, accepts);
      ASSERT_EQ(to_bytes(shake.responder.request()->private_data), to_bytes(asks.private_data));
      const InitiatorOutcome outcome = shake.initiator.outcome();
      ASSERT_EQ(to_bytes(std::get<Accepted>(outcome).private_data), to_bytes(accepts.private_data));
    }
  }
}

}  // namespace
}  // namespace iwarp::mpa::test
