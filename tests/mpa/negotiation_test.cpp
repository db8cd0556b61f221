#include "iwarp/mpa/negotiation.hpp"

#include <gtest/gtest.h>

namespace iwarp::mpa {
namespace {

DepthOptions depths(std::uint16_t ird, std::uint16_t ord, std::uint16_t limit) {
  DepthOptions options;
  options.ird = ird;
  options.ord = ord;
  options.ird_limit = limit;
  return options;
}

EnhancedData peer(ReadDepth ird, ReadDepth ord) {
  return {ConnectionModel::kClientServer, {}, ird, ord};
}

TEST(SettleInitiator, LowersItsOrdToTheRespondersIrd) {
  const auto settled = settle_initiator(depths(4, 9, 4), peer(ReadDepth(3), ReadDepth(2)));
  EXPECT_EQ(settled.value(), (Depths{4, 3}));
}

TEST(SettleInitiator, RaisesItsIrdToTheRespondersOrd) {
  const auto settled = settle_initiator(depths(4, 9, 16), peer(ReadDepth(20), ReadDepth(16)));
  EXPECT_EQ(settled.value(), (Depths{16, 9}));
}

TEST(SettleInitiator, FailsIfItsLimitIsBelowTheRespondersOrd) {
  const auto settled = settle_initiator(depths(4, 9, 16), peer(ReadDepth(20), ReadDepth(17)));
  EXPECT_EQ(settled.error(), Error::kInsufficientIrd);
}

TEST(SettleInitiator, LeavesAloneWhatTheResponderDoesNotState) {
  EXPECT_EQ(settle_initiator(depths(4, 9, 4), peer({}, {})).value(), (Depths{4, 9}));
  EXPECT_EQ(settle_initiator(depths(4, 9, 4), peer(ReadDepth(1), {})).value(), (Depths{4, 1}));
  EXPECT_EQ(settle_initiator(depths(4, 9, 8), peer({}, ReadDepth(8))).value(), (Depths{8, 9}));
}

TEST(SettleResponder, LowersItsOrdToTheInitiatorsIrd) {
  const Depths settled = settle_responder(depths(4, 9, 4), peer(ReadDepth(3), ReadDepth(2)), {});
  EXPECT_EQ(settled, (Depths{4, 3}));
}

TEST(SettleResponder, RaisesItsIrdTowardsTheInitiatorsOrd) {
  EXPECT_EQ(settle_responder(depths(4, 9, 16), peer({}, ReadDepth(12)), {}), (Depths{12, 9}));
  EXPECT_EQ(settle_responder(depths(4, 9, 16), peer({}, ReadDepth(99)), {}), (Depths{16, 9}));
}

TEST(SettleResponder, LeavesAloneWhatTheInitiatorDoesNotState) {
  EXPECT_EQ(settle_responder(depths(4, 9, 16), peer({}, {}), {}), (Depths{4, 9}));
}

TEST(SettleResponder, KeepsAnIrdThatItLeavesToItsUlp) {
  DepthOptions own = depths(4, 9, 16);
  own.ird_statement = DepthStatement::kLeftToUlp;
  EXPECT_EQ(settle_responder(own, peer(ReadDepth(9), ReadDepth(12)), {}), (Depths{4, 9}));
}

TEST(SettleResponder, HasRoomForAReadRtr) {
  const EnhancedData no_reads = peer(ReadDepth(0), ReadDepth(0));
  EXPECT_EQ(settle_responder(depths(0, 0, 0), no_reads, {Rtr::kRead}), (Depths{1, 0}));
  EXPECT_EQ(settle_responder(depths(0, 0, 0), no_reads, {Rtr::kWrite}), (Depths{0, 0}));
  EXPECT_EQ(settle_responder(depths(5, 0, 5), no_reads, {Rtr::kRead}), (Depths{5, 0}));
}

TEST(AnswerRtr, IsWhatBothSupportOrElseAllItsOwn) {
  EXPECT_EQ(answer_rtr(RtrSet::all(), {Rtr::kRead}), RtrSet({Rtr::kRead}));
  EXPECT_EQ(answer_rtr({Rtr::kSend, Rtr::kWrite}, {Rtr::kWrite, Rtr::kRead}),
            RtrSet({Rtr::kWrite}));
  EXPECT_EQ(answer_rtr({Rtr::kSend}, {Rtr::kWrite}), RtrSet({Rtr::kSend}));
  EXPECT_EQ(answer_rtr({Rtr::kSend}, {}), RtrSet({Rtr::kSend}));
}

TEST(ChooseRtr, PrefersWriteThenReadThenSend) {
  EXPECT_EQ(choose_rtr(RtrSet::all(), RtrSet::all()), Rtr::kWrite);
  EXPECT_EQ(choose_rtr(RtrSet::all(), {Rtr::kRead, Rtr::kSend}), Rtr::kRead);
  EXPECT_EQ(choose_rtr(RtrSet::all(), {Rtr::kSend}), Rtr::kSend);
  EXPECT_EQ(choose_rtr({Rtr::kRead}, {Rtr::kSend, Rtr::kWrite}), Rtr::kNone);
}

TEST(DepthOptions, AreValidOnlyWithinTheirBounds) {
  EXPECT_TRUE(DepthOptions{}.valid());
  EXPECT_TRUE(depths(0, kMaxReadDepth, kMaxReadDepth).valid());
  EXPECT_FALSE(depths(5, 0, 4).valid());
  EXPECT_FALSE(depths(0, 0x3FFF, 0).valid());
  EXPECT_FALSE(depths(0, 0, 0x3FFF).valid());
}

}  // namespace
}  // namespace iwarp::mpa
