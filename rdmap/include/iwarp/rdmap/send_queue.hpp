#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "iwarp/ddp/memory.hpp"
#include "iwarp/rdmap/atomic.hpp"

namespace iwarp::rdmap {

/// The RDMA Operations that a ULP submits (RFC 5040 §5, RFC 7306 §5, §6).
enum class Operation : std::uint8_t {
  kSend,
  kSendInvalidate,
  kSendSolicited,
  kSendSolicitedInvalidate,
  kWrite,
  kRead,
  kImmediate,
  kImmediateSolicited,
  kWriteImmediate,           ///< A Write and an Immediate Data Message behind it; just the latter
  kWriteImmediateSolicited,  ///< if there is nothing to write.
  kFetchAdd,
  kCmpSwap,
  kLocal,  ///< No message: the owner does something of its own when all before it has left.
};

/// Whether it is one of RFC 7306 §5.
constexpr bool is_atomic(Operation operation) {
  return operation == Operation::kFetchAdd || operation == Operation::kCmpSwap;
}
/// Whether the peer owes a response, which ORD limits.
constexpr bool awaits_response(Operation operation) {
  return operation == Operation::kRead || is_atomic(operation);
}
/// Whether an Immediate Data Message is part of it.
constexpr bool carries_immediate(Operation operation) {
  return operation >= Operation::kImmediate && operation <= Operation::kWriteImmediateSolicited;
}

/// Where the payload of a request is: in registered memory, or with the request.
enum class PayloadIn : std::uint8_t { kSges, kInline };
/// Whether a request waits until the Reads and atomics before it are done (RFC 5040 §5.5).
enum class Fence : bool { kNo, kYes };

/// An operation as submitted. Memory is named by key and range, and looked up when it is sent.
struct Request {
  std::uint64_t cookie = 0;                 ///< The submitter's own.
  bool report = true;                       ///< The submitter's own: report success too.
  Operation operation = Operation::kSend;   ///< What it does.
  PayloadIn payload_in = PayloadIn::kSges;  ///< Where its payload is.
  Fence fence = Fence::kNo;                 ///< Whether it waits.
  std::uint16_t sge_count = 0;              ///< Elements in SendQueue::sges().
  std::uint32_t length = 0;                 ///< Octets, below 2^32 (RFC 5041 §5.2).
  Stag remote_stag;                         ///< Writes, kRead, atomics.
  TaggedOffset remote_to;                   ///< Writes, kRead, atomics.
  Stag invalidate;                          ///< kSendInvalidate, kSendSolicitedInvalidate.
  std::uint64_t immediate = 0;  ///< Eight octets, the most significant one first on the wire.
  AtomicOperands atomic;        ///< kFetchAdd, kCmpSwap.
  // Filled in on the way:
  std::uint32_t read_index = 0;  ///< Its place among the requests that await a response.
  std::uint64_t end_offset = 0;  ///< Stream octet behind its last FPDU.
};

/// A ring of submitted operations, oldest first. Positions count up freely modulo 2^32.
/// One thread at a time appends, one at a time sends and retires; the two may run at once.
/// Allocates only when it is made.
class SendQueue {
 public:
  /// For `depth` requests, each with so many elements and so many octets of inline data.
  SendQueue(std::uint32_t depth, std::uint32_t max_sges, std::uint32_t max_inline);

  // The appending side.
  /// How many more requests it takes.
  [[nodiscard]] std::uint32_t room() const;
  /// Whether `depth` requests are in it.
  [[nodiscard]] bool full() const { return room() == 0; }
  /// The request to fill next, with room for its pieces. Precondition: !full().
  Request& vacant() { return at(tail_.load(std::memory_order_relaxed)); }
  /// Room for the elements of vacant().
  std::span<ddp::Sge> vacant_sges() { return sges_room(tail_.load(std::memory_order_relaxed)); }
  /// Room for the inline data of vacant().
  MutableBytes vacant_inline() { return inline_room(tail_.load(std::memory_order_relaxed)); }
  /// Makes the vacant request visible to the sending side.
  void append() { advance(tail_); }

  // The sending side.
  /// The position of the oldest request.
  [[nodiscard]] std::uint32_t head() const { return head_.load(std::memory_order_relaxed); }
  /// The position behind the newest.
  [[nodiscard]] std::uint32_t tail() const { return tail_.load(std::memory_order_acquire); }
  /// The request at a position from head() to tail().
  Request& at(std::uint32_t position) { return requests_[position & mask_]; }
  /// The same.
  [[nodiscard]] const Request& at(std::uint32_t position) const {
    return requests_[position & mask_];
  }
  /// Its elements.
  [[nodiscard]] std::span<const ddp::Sge> sges(std::uint32_t position) const;
  /// Its inline data.
  [[nodiscard]] ConstBytes inline_data(std::uint32_t position) const;
  /// Gives the oldest request's place free. Precondition: head() != tail().
  void retire() { advance(head_); }

  /// As constructed.
  [[nodiscard]] std::uint32_t depth() const { return depth_; }
  /// Where a position lies in the ring of places(): for what an owner keeps beside the requests.
  [[nodiscard]] std::uint32_t place(std::uint32_t position) const { return position & mask_; }
  /// How many places the ring has: at least depth().
  [[nodiscard]] std::size_t places() const { return std::size_t{mask_} + 1; }

 private:
  // Of its side alone.
  static void advance(std::atomic<std::uint32_t>& end) {
    end.store(end.load(std::memory_order_relaxed) + 1U, std::memory_order_release);
  }
  std::span<ddp::Sge> sges_room(std::uint32_t position) const;
  MutableBytes inline_room(std::uint32_t position) const;

  std::uint32_t depth_, mask_, max_sges_, max_inline_;
  std::unique_ptr<Request[]> requests_;
  std::unique_ptr<ddp::Sge[]> sges_;
  std::unique_ptr<std::byte[]> inline_;
  alignas(64) std::atomic<std::uint32_t> head_{0};
  alignas(64) std::atomic<std::uint32_t> tail_{0};
};

}  // namespace iwarp::rdmap
