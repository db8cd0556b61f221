#include <gtest/gtest.h>

#include <thread>

#include "iwarp/rdmap/outstanding_requests.hpp"
#include "iwarp/rdmap/response_queue.hpp"
#include "iwarp/rdmap/send_queue.hpp"
#include "support/repeat.hpp"

// Each queue between the two threads it is made for. What one side writes the other reads with
// plain loads, so that ThreadSanitizer finds an order that is missing.

namespace iwarp::rdmap {
namespace {

using test::repeat_for;

constexpr std::uint32_t kCount = 500;
constexpr std::chrono::milliseconds kTime(300);

void hand_over_sends() {
  SendQueue queue(8, 2, 8);
  std::thread poster([&] {
    for (std::uint32_t i = 0; i < kCount; ++i) {
      while (queue.full()) test::pause_a_little();
      Request& request = queue.vacant();
      request = Request();
      request.cookie = i;
      request.sge_count = 2;
      request.length = 8;
      for (ddp::Sge& sge : queue.vacant_sges()) sge = {i, i, Stag{i}};
      std::fill_n(queue.vacant_inline().begin(), 8, std::byte(i));
      queue.append();
    }
  });
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    while (queue.head() == queue.tail()) test::pause_a_little();
    Request& request = queue.at(queue.head());
    wrong += request.cookie == i ? 0U : 1U;
    for (const ddp::Sge& sge : queue.sges(i)) wrong += sge.lkey == Stag{i} ? 0U : 1U;
    for (const std::byte b : queue.inline_data(i)) wrong += b == std::byte(i) ? 0U : 1U;
    request.end_offset = i;
    queue.retire();
  }
  poster.join();
  EXPECT_EQ(wrong, 0U);
}

void hand_over_responses() {
  ResponseQueue queue(3);
  std::thread receiver([&] {
    for (std::uint32_t i = 0; i < kCount; ++i) {
      while (!queue.admits(Owed::kReadResponse)) test::pause_a_little();
      queue.append({Stag{i}, TaggedOffset{i}, i, Stag{i}, TaggedOffset{i}});
    }
  });
  std::uint32_t wrong = 0;
  std::uint32_t cursor = 0;
  while (cursor != kCount) {
    const std::uint32_t tail = queue.tail();
    if (cursor == tail) test::pause_a_little();
    // Plans all, takes it back, and has sent one. What was taken back has let others in; those of a
    // peer that asks before it has its responses stop at what the queue has room for.
    wrong += tail - cursor <= 4 * queue.ird() ? 0U : 1U;
    queue.planned(tail);
    for (std::uint32_t i = cursor; i != tail; ++i) {
      wrong +=
          queue.at(i).read.size == i && queue.at(i).read.source_to == TaggedOffset{i} ? 0U : 1U;
    }
    if (cursor != tail) ++cursor;
    queue.planned(cursor);
    queue.retire(cursor);
  }
  receiver.join();
  EXPECT_EQ(wrong, 0U);
}

void hand_over_reads() {
  OutstandingRequests reads(3, 5);
  const ddp::Sge sinks[4] = {};
  std::thread transmitter([&] {
    for (std::uint32_t i = 0; i < kCount; ++i) {
      while (!reads.admits(i)) test::pause_a_little();
      reads.issue(i, Owed::kReadResponse, i, std::span(sinks).first(i % 4));
      reads.issue(i, Owed::kReadResponse, 0xDEAD, {});
    }
  });
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const OutstandingRequest* read = nullptr;
    while ((read = reads.due()) == nullptr) test::pause_a_little();
    wrong += read->length == i && read->sink.size() == i % 4 ? 0U : 1U;
    wrong += read->sink_stag == reads.sink_stag(i) ? 0U : 1U;
    reads.finish();
  }
  transmitter.join();
  EXPECT_EQ(wrong, 0U);
}

TEST(SendQueueConcurrency, HandsRequestsFromOneThreadToAnother) {
  repeat_for(kTime, hand_over_sends);
}

TEST(ResponseQueueConcurrency, HandsRequestsFromReceiverToTransmitter) {
  repeat_for(kTime, hand_over_responses);
}

TEST(OutstandingRequestsConcurrency, HandsReadsFromTransmitterToReceiver) {
  repeat_for(kTime, hand_over_reads);
}

}  // namespace
}  // namespace iwarp::rdmap
