#include "file_service/wire/life_signs.hpp"

#include <gtest/gtest.h>

namespace iwarp::cli::file_service {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSignSize = 24;  // an FPDU with an empty Write
constexpr std::uint64_t kMib = 1U << 20;

/// An end that looks ten times a second.
class End {
 public:
  bool look() {
    now_ += 100ms;
    if (!signs.due(now_, traffic)) return false;
    traffic.sent += kSignSize;
    return true;
  }
  int signs_in(int looks, std::uint64_t octets_each) {
    int count = 0;
    for (int i = 0; i < looks; ++i) {
      traffic.received += octets_each;
      if (look()) ++count;
    }
    return count;
  }

  LifeSigns signs;
  LifeSigns::Traffic traffic;

 private:
  LifeSigns::Clock::time_point now_{1000h};
};

TEST(LifeSigns, ComeWhileDataComesAndNothingIsSent) {
  End end;
  EXPECT_GE(end.signs_in(100, 2500), 10);  // in ten seconds
  EXPECT_LE(end.signs_in(100, 2500), 20);
}

TEST(LifeSigns, DoNotComeWhenNothingComes) {
  End end;
  end.signs_in(100, 2500);
  EXPECT_LE(end.signs_in(10, 0), 1);
  EXPECT_EQ(end.signs_in(1000, 0), 0);
}

TEST(LifeSigns, DoNotComeFromAnEndThatSends) {
  End end;
  for (int i = 0; i < 1000; ++i) {
    end.traffic.received += 2500;
    if (i % 4 == 0) end.traffic.sent += 60;
    EXPECT_FALSE(end.look());
  }
}

TEST(LifeSigns, DoNotKeepEachOtherAlive) {
  End here;
  End there;
  here.signs_in(100, kMib);
  int signs = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (here.look()) {
      there.traffic.received += kSignSize;
      ++signs;
    }
    if (there.look()) {
      here.traffic.received += kSignSize;
      ++signs;
    }
  }
  EXPECT_LE(signs, 3);
}

TEST(LifeSigns, SufficeForARequestThatTakesMinutes) {
  End end;
  int since_last = 0;
  // 1 MiB at 2 kB/s; none of the signs completes before the RDMA Read does.
  for (std::uint64_t at = 0; at < kMib; at += 200) {
    end.traffic.received += 200;
    since_last = end.look() ? (++end.traffic.signs, 0) : since_last + 1;
    ASSERT_LT(since_last, 100) << at;  // ten seconds
  }
  EXPECT_LE(end.traffic.signs, LifeSigns::kMost);
}

}  // namespace
}  // namespace iwarp::cli::file_service
