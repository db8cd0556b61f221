#include <gtest/gtest.h>

#include <set>

#include "iwarp/rdmap/outstanding_requests.hpp"
#include "iwarp/rdmap/response_queue.hpp"
#include "iwarp/rdmap/send_queue.hpp"

namespace iwarp::rdmap {
namespace {

void append(SendQueue& queue, std::uint64_t cookie) {
  queue.vacant() = Request();
  queue.vacant().cookie = cookie;
  queue.append();
}

TEST(SendQueue, HoldsExactlyItsDepth) {
  for (const std::uint32_t depth : {1U, 2U, 3U, 5U, 8U, 100U}) {
    SendQueue queue(depth, 1, 0);
    for (int lap = 0; lap < 3; ++lap) {
      for (std::uint32_t i = 0; i < depth; ++i) {
        EXPECT_FALSE(queue.full()) << depth;
        append(queue, i);
      }
      EXPECT_TRUE(queue.full()) << depth;
      queue.retire();
      EXPECT_FALSE(queue.full()) << depth;
      while (queue.head() != queue.tail()) queue.retire();
    }
  }
}

TEST(SendQueue, OfDepthZeroIsFull) { EXPECT_TRUE(SendQueue(0, 1, 1).full()); }

TEST(SendQueue, GivesRequestsBackInTheirOrder) {
  SendQueue queue(3, 1, 0);
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  for (int i = 0; i < 100; ++i) {
    while (!queue.full()) append(queue, in++);
    for (int n = i % 3; n >= 0; --n) {
      EXPECT_EQ(queue.at(queue.head()).cookie, out++);
      queue.retire();
    }
  }
}

TEST(SendQueue, KeepsTheListAndInlineDataOfEachRequest) {
  SendQueue queue(4, 3, 16);
  EXPECT_EQ(queue.vacant_sges().size(), 3U);
  EXPECT_EQ(queue.vacant_inline().size(), 16U);
  for (std::uint32_t i = 0; i < 4; ++i) {
    queue.vacant().sge_count = static_cast<std::uint16_t>(i % 4);
    queue.vacant().length = i;
    for (ddp::Sge& sge : queue.vacant_sges()) sge = {i, i, Stag{i}};
    std::fill_n(queue.vacant_inline().begin(), 16, std::byte(i));
    queue.append();
  }
  for (std::uint32_t i = 0; i < 4; ++i) {
    ASSERT_EQ(queue.sges(i).size(), i % 4);
    for (const ddp::Sge& sge : queue.sges(i)) EXPECT_EQ(sge.lkey, Stag{i});
    ASSERT_EQ(queue.inline_data(i).size(), i);
    for (const std::byte b : queue.inline_data(i)) EXPECT_EQ(b, std::byte(i));
  }
}

TEST(SendQueue, CanDoWithoutListsAndInlineData) {
  SendQueue queue(2, 0, 0);
  append(queue, 1);
  EXPECT_TRUE(queue.sges(0).empty());
  EXPECT_TRUE(queue.inline_data(0).empty());
}

ReadRequest request(std::uint32_t n) {
  return {Stag{n}, TaggedOffset{n}, n, Stag{n}, TaggedOffset{n}};
}

TEST(ResponseQueue, AdmitsIrdRequests) {
  for (const std::uint32_t ird : {0U, 1U, 2U, 3U, 7U, 16U}) {
    ResponseQueue queue(ird);
    EXPECT_EQ(queue.ird(), ird);
    for (std::uint32_t i = 0; i < ird; ++i) {
      EXPECT_TRUE(queue.admits(Owed::kReadResponse)) << ird;
      queue.append(request(i));
    }
    EXPECT_FALSE(queue.admits(Owed::kReadResponse)) << ird;
  }
}

TEST(ResponseQueue, AdmitsOneMoreForEachResponsePlanned) {
  ResponseQueue queue(2);
  for (std::uint32_t i = 0; i < 2; ++i) queue.append(request(i));
  queue.planned(1);
  EXPECT_TRUE(queue.admits(Owed::kReadResponse));
  queue.append(request(2));
  EXPECT_FALSE(queue.admits(Owed::kReadResponse));
  queue.planned(3);
  EXPECT_TRUE(queue.admits(Owed::kReadResponse));
}

TEST(ResponseQueue, NeverHoldsMoreThanTwiceWhatMayWait) {
  for (const std::uint32_t ird : {1U, 3U, 4U}) {
    ResponseQueue queue(ird);
    std::uint32_t n = 0;
    for (; n < 4 * ird; ++n) {
      queue.planned(n);
      ASSERT_TRUE(queue.admits(Owed::kReadResponse));
      queue.append(request(n));
    }
    queue.planned(n);
    EXPECT_FALSE(queue.admits(Owed::kReadResponse)) << "nothing has been retired";
    for (std::uint32_t i = 0; i < n; ++i) EXPECT_EQ(queue.at(i).read, request(i)) << "overwritten";
    queue.retire(1);
    EXPECT_TRUE(queue.admits(Owed::kReadResponse));
  }
}

TEST(ResponseQueue, AdmitsIrdReadsAndIrdAtomics) {
  ResponseQueue queue(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(queue.admits(Owed::kAtomicResponse));
    queue.append(AtomicResponse{i, i});
    EXPECT_TRUE(queue.admits(Owed::kReadResponse));
    queue.append(request(i));
  }
  EXPECT_FALSE(queue.admits(Owed::kAtomicResponse));
  EXPECT_FALSE(queue.admits(Owed::kReadResponse));
  queue.planned(1);
  EXPECT_TRUE(queue.admits(Owed::kAtomicResponse));
  EXPECT_FALSE(queue.admits(Owed::kReadResponse));
  queue.planned(2);
  EXPECT_TRUE(queue.admits(Owed::kReadResponse));
}

TEST(ResponseQueue, AdmitsLessAgainOncePlanningIsTakenBack) {
  ResponseQueue queue(2);
  for (std::uint32_t i = 0; i < 2; ++i) queue.append(request(i));
  queue.planned(2);
  EXPECT_TRUE(queue.admits(Owed::kReadResponse));
  queue.planned(0);
  EXPECT_FALSE(queue.admits(Owed::kReadResponse));
}

TEST(ResponseQueue, KeepsRequestsInTheirOrderRoundTheRing) {
  ResponseQueue queue(3);
  std::uint32_t in = 0;
  for (std::uint32_t out = 0; out < 100; ++out) {
    while (queue.admits(Owed::kReadResponse)) {
      queue.append(request(in));
      ++in;
    }
    EXPECT_EQ(queue.tail(), in);
    EXPECT_EQ(queue.at(queue.head()).read, request(out));
    queue.planned(out + 1);
    queue.retire(out + 1);
  }
}

TEST(OutstandingRequests, AdmitsOrdReads) {
  for (const std::uint32_t ord : {0U, 1U, 3U, 16U}) {
    OutstandingRequests reads(ord, 1);
    for (std::uint32_t i = 0; i < ord; ++i) {
      EXPECT_TRUE(reads.admits(i)) << ord;
      reads.issue(i, Owed::kReadResponse, i, {});
    }
    EXPECT_FALSE(reads.admits(ord)) << ord;
    if (ord == 0) continue;
    reads.finish();
    EXPECT_TRUE(reads.admits(ord)) << ord;
    EXPECT_FALSE(reads.admits(ord + 1)) << ord;
  }
}

TEST(OutstandingRequests, AreDueInTheOrderTheyWereIssued) {
  OutstandingRequests reads(3, 99);
  const ddp::Sge sink[2] = {};
  EXPECT_EQ(reads.due(), nullptr);
  std::uint32_t issued = 0;
  for (std::uint32_t done = 0; done < 50; ++done) {
    for (; reads.admits(issued); ++issued) {
      reads.issue(issued, Owed::kReadResponse, issued * 10, std::span(sink).first(issued % 3));
    }
    ASSERT_NE(reads.due(), nullptr);
    EXPECT_EQ(reads.due()->length, done * 10);
    EXPECT_EQ(reads.due()->sink.size(), done % 3);
    EXPECT_EQ(reads.due()->sink_stag, reads.sink_stag(done));
    reads.finish();
    EXPECT_EQ(reads.finished(), done + 1);
  }
}

TEST(OutstandingRequests, TakeNoSecondAnnouncementOfOneRead) {
  OutstandingRequests reads(4, 1);
  reads.issue(0, Owed::kReadResponse, 10, {});
  reads.issue(1, Owed::kReadResponse, 11, {});
  reads.issue(0, Owed::kReadResponse, 99, {});
  EXPECT_EQ(reads.due()->length, 10U);
  reads.finish();
  EXPECT_EQ(reads.due()->length, 11U);
  reads.finish();
  EXPECT_EQ(reads.due(), nullptr);
  reads.issue(0, Owed::kReadResponse, 99, {});
  EXPECT_EQ(reads.due(), nullptr);
}

TEST(OutstandingRequests, NameTheirSinksDifferently) {
  const OutstandingRequests reads(4, 0x1234);
  const OutstandingRequests other(4, 0x4321);
  std::set<Stag> stags;
  for (std::uint32_t i = 0; i < 10000; ++i) {
    ASSERT_TRUE(stags.insert(reads.sink_stag(i)).second);
    ASSERT_NE(reads.sink_stag(i), other.sink_stag(i));
  }
}

}  // namespace
}  // namespace iwarp::rdmap
