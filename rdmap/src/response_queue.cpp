#include "iwarp/rdmap/response_queue.hpp"

namespace iwarp::rdmap {

ResponseQueue::ResponseQueue(std::uint32_t ird) : ird_(ird), ring_(4U * ird) {}

bool ResponseQueue::admits(Owed owed) const {
  const std::uint32_t tail = tail_.own();
  // Planning may be rewound, never below head. A stale value makes the check stricter; one from
  // before a rewind lets a peer in that asks too early, as far as there is room.
  const std::uint32_t planned = planned_.seen();
  const std::uint32_t waiting = tail - planned;
  const std::uint32_t reads = waiting == 0 ? 0 : reads_ - ring_[planned].reads_before;
  const std::uint32_t held = tail - head_.seen();
  return (owed == Owed::kReadResponse ? reads : waiting - reads) < ird_ && held < 4U * ird_;
}

void ResponseQueue::append(const ReadRequest& request) {
  append(OwedResponse{Owed::kReadResponse, request, {}, reads_});
  ++reads_;
}

void ResponseQueue::append(const AtomicResponse& response) {
  append(OwedResponse{Owed::kAtomicResponse, {}, response, reads_});
}

void ResponseQueue::append(OwedResponse response) {
  ring_[tail_.own()] = response;
  tail_.advance();
}

}  // namespace iwarp::rdmap
