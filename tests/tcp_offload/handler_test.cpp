#include "iwarp/tcp_offload/handler.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "iwarp/tcp_offload/error.hpp"
#include "iwarp/tcp_offload/offloads.hpp"

namespace iwarp::tcp_offload {
namespace {

TEST(HandlerTest, HoldsWhatCannotBeCopied) {
  Handler<int, std::unique_ptr<int>> handler = [sum = std::make_unique<int>(1)](
                                                   int a, std::unique_ptr<int> b) {
    EXPECT_EQ(a + *b + *sum, 6);
  };
  Handler<int, std::unique_ptr<int>> moved = std::move(handler);
  ASSERT_TRUE(moved);
  moved(2, std::make_unique<int>(3));
  EXPECT_FALSE(moved) << "called at most once";
}

TEST(HandlerTest, DestroysItsCapturesWhenTheCallReturns) {
  auto captured = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = captured;
  Handler<> handler = [captured = std::move(captured)] {};
  EXPECT_FALSE(watch.expired());
  handler();
  EXPECT_TRUE(watch.expired());
}

TEST(HandlerTest, MayBeReplacedWhileItIsCalled) {
  int calls = 0;
  Handler<> handler;
  handler = [&] {
    ++calls;
    handler = [&] { calls += 10; };
  };
  handler();
  handler();
  EXPECT_EQ(calls, 11);
}

TEST(HandlerTest, IsEmptyByDefault) {
  EXPECT_FALSE(Handler<>());
  EXPECT_FALSE(Handler<>(nullptr));
}

TEST(ErrorTest, IsAnErrorCodeOfItsOwnCategory) {
  const std::error_code code = Error::kEndOfStream;
  EXPECT_TRUE(code);
  EXPECT_EQ(code.category(), error_category());
  EXPECT_NE(code, std::error_code(1, std::system_category()));
  EXPECT_EQ(code.message(), "the peer ended the stream");
  EXPECT_STREQ(error_category().name(), "iwarp.tcp_offload");
}

TEST(OffloadsTest, AreASet) {
  constexpr Offloads both = Offload::kCrc | Offload::kMarkers;
  static_assert(both.contains(Offload::kCrc) && both.contains(Offload::kMarkers));
  static_assert(!Offloads(Offload::kCrc).contains(Offload::kMarkers) && !both.empty());
  static_assert(Offloads().empty() && (both | Offload::kCrc) == both);
}

// RFC 5044 §4.4: there is no CRC that leaves the Markers out.
TEST(OffloadsTest, LeaveToTheHostWhatTheyCannotTake) {
  constexpr Offloads crc = Offload::kCrc, markers = Offload::kMarkers;
  constexpr MpaTerms all{true, true, true}, unchecked{false, true, true}, plain{};
  static_assert(left_to_host(all, {}) == all);
  static_assert(left_to_host(all, crc) == unchecked);
  static_assert(left_to_host(all, markers) == all);
  static_assert(left_to_host(all, crc | markers) == plain);
  static_assert(left_to_host(unchecked, crc) == unchecked);
  static_assert(left_to_host(unchecked, markers) == plain);
  static_assert(left_to_host(unchecked, crc | markers) == plain);
}

TEST(OffloadsTest, AddNothingToWhatWasNegotiated) {
  constexpr Offloads both = Offload::kCrc | Offload::kMarkers;
  for (const MpaTerms& negotiated :
       {MpaTerms{}, MpaTerms{true, false, false}, MpaTerms{false, true, false}}) {
    EXPECT_EQ(left_to_host(negotiated, {}), negotiated);
    EXPECT_EQ(left_to_host(negotiated, both), MpaTerms());
  }
  static_assert(left_to_host({false, false, true}, Offload::kCrc).markers_received);
}

TEST(OffloadsTest, MarkersTakeFourOctetsOfEach512) {
  static_assert(marker_octets(0) == 0 && marker_octets(3) == 3 && marker_octets(4) == 4);
  static_assert(marker_octets(512) == 4 && marker_octets(514) == 6 && marker_octets(1025) == 9);
}

}  // namespace
}  // namespace iwarp::tcp_offload
