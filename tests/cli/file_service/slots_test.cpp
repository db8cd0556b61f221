#include "file_service/server/slots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <string>
#include <utility>
#include <vector>

#include "file_service/wire/limits.hpp"

namespace iwarp::cli::file_service {
namespace {

using boost::asio::ip::make_address;
using enum SlotUse;
using Number = Slots::Number;

/// Slots that clients from these addresses have, each with a use for its own.
class TestSlots : public Slots {
 public:
  explicit TestSlots(const std::vector<std::pair<std::string, SlotUse>>& clients)
      : Slots(clients.size()) {
    for (const auto& [peer, use] : clients) {
      clients_.push_back(admit(make_address(peer), now_).client.value());
      note(clients_.back(), use);
    }
  }
  /// Which of them, counted in their order, makes room; none if the newcomer is refused.
  std::optional<std::size_t> room_for(const char* newcomer) {
    const Admission admission = admit(make_address(newcomer), now_);
    newest_ = admission.client.value_or(0);
    EXPECT_EQ(admission.client.has_value(), admission.makes_room.has_value());
    return index_of(admission.makes_room);
  }
  std::optional<std::size_t> buffers_from(bool of_strangers = false) {
    return index_of(gives_buffers_back(of_strangers));
  }
  void pass(std::chrono::milliseconds time) { now_ += time; }
  /// The last one that has found room.
  [[nodiscard]] Number newest() const { return newest_; }
  [[nodiscard]] Number at(std::size_t index) const { return clients_.at(index); }

 private:
  [[nodiscard]] std::optional<std::size_t> index_of(std::optional<Number> client) const {
    if (!client) return std::nullopt;
    return static_cast<std::size_t>(std::ranges::find(clients_, *client) - clients_.begin());
  }
  std::vector<Number> clients_;
  Number newest_ = 0;
  Clock::time_point now_{};
};

TEST(Slots, AreThereUpToTheLimit) {
  Slots slots(2);
  const auto peer = make_address("10.0.0.1");
  for (int i = 0; i < 2; ++i) {
    const auto admission = slots.admit(peer, {});
    EXPECT_EQ(admission.makes_room, std::nullopt);
    slots.note(admission.client.value(), kInUse);
  }
  EXPECT_EQ(slots.admit(peer, {}).client, std::nullopt);
}

TEST(Slots, ComeBackFromClientsThatLeave) {
  TestSlots slots({{"10.0.0.1", kInUse}, {"10.0.0.1", kInUse}});
  slots.leave(slots.at(1));
  slots.leave(slots.at(1));
  const auto admission = slots.admit(make_address("10.0.0.2"), {});
  EXPECT_TRUE(admission.client);
  EXPECT_EQ(admission.makes_room, std::nullopt);
}

TEST(Slots, ThatAreInUseAreLeftToTheirClients) {
  TestSlots slots({{"10.0.0.1", kInUse}, {"10.0.0.1", kInUse}});
  EXPECT_EQ(slots.room_for("10.0.0.9"), std::nullopt);
}

TEST(Slots, AreGivenUpByTheClientThatHasHadNoUseForItsOwnForLongest) {
  TestSlots slots({{"10.0.0.1", kInUse}, {"10.0.0.1", kIdle}, {"10.0.0.1", kIdle}});
  slots.note(slots.at(1), kInUse);
  slots.note(slots.at(1), kIdle);
  EXPECT_EQ(slots.room_for("10.0.0.9"), 2U);
  slots.pass(kTimeToAsk);
  EXPECT_EQ(slots.room_for("10.0.0.9"), 3U);  // the newcomer, which has asked nothing
}

TEST(Slots, AreGivenUpFirstWhereLeastIsLost) {
  TestSlots slots({{"10.0.0.1", kTransferRests},
                   {"10.0.0.2", kTransferRests},
                   {"10.0.0.1", kIdle},
                   {"10.0.0.3", kNothingAsked}});
  slots.pass(kTimeToAsk);
  EXPECT_EQ(slots.room_for("10.0.0.9"), 3U);
  slots.note(4, kInUse);
  EXPECT_EQ(slots.room_for("10.0.0.9"), 2U);
  slots.note(5, kInUse);
  EXPECT_EQ(slots.room_for("10.0.0.8"), 0U);
}

// It has had no time to say what it wants.
TEST(Slots, OfTheLatestToComeAreGivenUpLast) {
  TestSlots slots(
      {{"10.0.0.1", kInUse}, {"10.0.0.2", kNothingAsked}, {"10.0.0.3", kTransferRests}});
  EXPECT_EQ(slots.room_for("10.0.0.5"), 2U);
  slots.note(slots.newest(), kInUse);
  EXPECT_EQ(slots.room_for("10.0.0.6"), 1U);
}

TEST(Slots, AreGivenUpByStrangersBeforeOthers) {
  TestSlots slots({{"10.0.0.1", kTransferRests},
                   {"10.0.0.2", kStrangerRests},
                   {"10.0.0.3", kIdle},
                   {"10.0.0.4", kInLine}});
  EXPECT_EQ(slots.room_for("10.0.0.5"), 3U);
  slots.note(slots.newest(), kInUse);
  EXPECT_EQ(slots.room_for("10.0.0.6"), 2U);
  slots.note(slots.newest(), kInUse);
  EXPECT_EQ(slots.room_for("10.0.0.7"), 1U);
  slots.note(slots.newest(), kInUse);
  EXPECT_EQ(slots.room_for("10.0.0.8"), 0U);
}

TEST(Slots, AreGivenUpByTheNetworkThatLeavesMostUnused) {
  TestSlots v4({{"10.0.0.1", kIdle}, {"10.0.0.2", kIdle}, {"10.0.0.2", kIdle}});
  EXPECT_EQ(v4.room_for("10.0.0.9"), 1U);
  TestSlots v6({{"10.0.0.1", kIdle}, {"2001:db8::1", kIdle}, {"2001:db8::2", kIdle}});
  EXPECT_EQ(v6.room_for("::1"), 1U);
}

TEST(Slots, AreNotTakenByNetworksThatHaveMoreFromThoseThatHaveFewer) {
  TestSlots full({{"10.0.0.1", kInUse}, {"10.0.0.1", kInUse}, {"10.0.0.2", kIdle}});
  EXPECT_EQ(full.room_for("10.0.0.1"), std::nullopt);
  TestSlots its_own({{"10.0.0.1", kTransferRests}, {"10.0.0.1", kInUse}, {"10.0.0.2", kIdle}});
  EXPECT_EQ(its_own.room_for("10.0.0.1"), 0U);
  TestSlots as_many({{"10.0.0.1", kInUse}, {"10.0.0.2", kIdle}});
  EXPECT_EQ(as_many.room_for("10.0.0.1"), 1U);
}

TEST(Slots, ThatAreGoneAreNotNoted) {
  TestSlots slots({{"10.0.0.1", kIdle}});
  EXPECT_EQ(slots.room_for("10.0.0.2"), 0U);
  slots.note(slots.at(0), kTransferRests);
  EXPECT_EQ(slots.buffers_from(), std::nullopt);
}

TEST(Slots, GiveBuffersBackFromTransfersThatRest) {
  TestSlots slots({{"10.0.0.1", kTransferRests},
                   {"10.0.0.2", kTransferRests},
                   {"10.0.0.2", kTransferRests},
                   {"10.0.0.3", kIdle},
                   {"10.0.0.3", kInUse}});
  EXPECT_EQ(slots.buffers_from(), 1U);
  EXPECT_TRUE(slots.buffers_from());
  EXPECT_TRUE(slots.buffers_from());
  EXPECT_EQ(slots.buffers_from(), std::nullopt);
}

TEST(Slots, GiveTheBuffersOfStrangersBackFirst) {
  TestSlots slots({{"10.0.0.1", kTransferRests}, {"10.0.0.2", kStrangerRests}});
  EXPECT_EQ(slots.buffers_from(), 1U);
  EXPECT_EQ(slots.buffers_from(true), std::nullopt);
  EXPECT_EQ(slots.buffers_from(), 0U);
}

}  // namespace
}  // namespace iwarp::cli::file_service
