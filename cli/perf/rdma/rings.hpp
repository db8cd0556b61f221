#pragma once

#include <cstdint>
#include <vector>

#include "iwarp/verbs/verbs.hpp"
#include "perf/rdma/buffer.hpp"

/// Work requests made once and posted again and again, in order, as contiguous lists.
namespace iwarp::cli::perf {

/// `count` messages of `size` octets in memory: few enough places to stay in a cache.
struct Places {
  std::uint32_t size = 0;
  std::uint32_t count = 0;

  /// As many places as fit in 64 KiB: one at least, `messages` at most.
  static Places for_messages(std::uint32_t messages, std::uint32_t size);
  [[nodiscard]] std::size_t octets() const { return std::size_t{size} * count; }
  [[nodiscard]] std::size_t offset(std::uint32_t message) const {
    return std::size_t{message % count} * size;
  }
};

/// Which requests of a SendRing complete with an entry in the CQ: all, or every n-th.
struct SignalEvery {
  /// For rings that no thread waits for.
  static constexpr std::uint32_t kRarely = 16;

  std::uint32_t n = 1;
};

/// The data requests of one end. Their wr_id is kDataWork.
class SendRing {
 public:
  static constexpr std::uint64_t kDataWork = 0;

  /// `length` requests over `places` in `local`; of a Write or Read the peer's memory at `remote`.
  SendRing(verbs::Opcode opcode, std::uint32_t length, Places places,
           const verbs::MemoryRegion& local, const verbs::RemoteBuffer& remote, SignalEvery signal);

  /// Posts the next `n` requests, `length` at most, as one list.
  Result<void, verbs::PostError> post(verbs::QueuePair& queue_pair, std::uint32_t n);

 private:
  std::uint32_t length_;
  std::uint32_t next_ = 0;
  std::vector<verbs::Sge> sges_;
  std::vector<verbs::SendWr> requests_;  // twice over, so that no list has to wrap
};

/// The receives of one end and their memory.
class ReceiveRing {
 public:
  /// `count` receives of `size` octets. Where they share places, only the last message that came
  /// is whole.
  ReceiveRing(verbs::ProtectionDomain& domain, std::uint32_t count, std::uint32_t size);

  /// Posts the next `n` receives, `count` at most, as one list.
  Result<void, verbs::PostError> post(verbs::QueuePair& queue_pair, std::uint32_t n);
  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// The message that a receive's completion reports.
  [[nodiscard]] ConstBytes message(const verbs::Completion& completion) const {
    return {memory_.data() + completion.wr_id, completion.byte_length};
  }

 private:
  std::uint32_t count_;
  std::uint32_t next_ = 0;
  Places places_;
  Buffer memory_;
  verbs::MemoryRegion region_;
  std::vector<verbs::Sge> sges_;
  std::vector<verbs::RecvWr> requests_;  // twice over; wr_id is the offset in the memory
};

}  // namespace iwarp::cli::perf
