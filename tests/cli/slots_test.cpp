#include "file_service/slots.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace iwarp::cli::file_service {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::make_address;

constexpr std::chrono::steady_clock::time_point kStart{};

Slot in_use(const char* peer) { return {make_address(peer), {}}; }
Slot spare(const char* peer, std::chrono::seconds since) {
  return {make_address(peer), kStart + since};
}
std::optional<std::size_t> room_for(const char* newcomer, const std::vector<Slot>& slots) {
  return makes_room(slots, make_address(newcomer));
}

TEST(Slots, ThatAreInUseAreLeftToTheirClients) {
  EXPECT_EQ(room_for("10.0.0.9", {in_use("10.0.0.1"), in_use("10.0.0.1")}), std::nullopt);
  EXPECT_EQ(room_for("10.0.0.9", {}), std::nullopt);
}

TEST(Slots, AreGivenUpByTheClientThatHasHadNoUseForItsOwnForLongest) {
  EXPECT_EQ(room_for("10.0.0.9", {in_use("10.0.0.1"), spare("10.0.0.1", 3s), spare("10.0.0.1", 2s),
                                  spare("10.0.0.1", 4s)}),
            2U);
}

TEST(Slots, AreGivenUpByTheNetworkThatLeavesMostUnused) {
  EXPECT_EQ(
      room_for("10.0.0.9", {spare("10.0.0.1", 1s), spare("10.0.0.2", 3s), spare("10.0.0.2", 2s)}),
      2U);
  EXPECT_EQ(
      room_for("::1", {spare("2001:db8::1", 2s), spare("10.0.0.1", 1s), spare("2001:db8::2", 3s)}),
      0U);
}

TEST(Slots, AreNotTakenByThoseWhoHaveMoreFromThoseWhoHaveFewer) {
  EXPECT_EQ(room_for("10.0.0.1", {in_use("10.0.0.1"), in_use("10.0.0.1"), spare("10.0.0.2", 1s)}),
            std::nullopt);
  EXPECT_EQ(room_for("10.0.0.1", {in_use("10.0.0.1"), spare("10.0.0.2", 1s)}), 1U);
}

}  // namespace
}  // namespace iwarp::cli::file_service
