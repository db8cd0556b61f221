#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "iwarp/base/ring.hpp"
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
  Request& vacant() { return at(tail_.own()); }
  /// Room for the elements of vacant().
  std::span<ddp::Sge> vacant_sges() { return sges_[tail_.own()]; }
  /// Room for the inline data of vacant().
  MutableBytes vacant_inline() { return inline_[tail_.own()]; }
  /// Makes the vacant request visible to the sending side.
  void append() { tail_.advance(); }

  // The sending side.
  /// The position of the oldest request.
  [[nodiscard]] std::uint32_t head() const { return head_.own(); }
  /// The position behind the newest.
  [[nodiscard]] std::uint32_t tail() const { return tail_.seen(); }
  /// The request at a position from head() to tail().
  Request& at(std::uint32_t position) { return requests_[position]; }
  /// The same.
  [[nodiscard]] const Request& at(std::uint32_t position) const { return requests_[position]; }
  /// Its elements.
  [[nodiscard]] std::span<const ddp::Sge> sges(std::uint32_t position) const;
  /// Its inline data.
  [[nodiscard]] ConstBytes inline_data(std::uint32_t position) const;
  /// Gives the oldest request's place free. Precondition: head() != tail().
  void retire() { head_.advance(); }

  /// As constructed.
  [[nodiscard]] std::uint32_t depth() const { return depth_; }
  /// Where a position lies in the ring of places(): for what an owner keeps beside the requests.
  [[nodiscard]] std::size_t place(std::uint32_t position) const {
    return requests_.place(position);
  }
  /// How many places the ring has: at least depth().
  [[nodiscard]] std::size_t places() const { return requests_.size(); }

 private:
  std::uint32_t depth_;
  Ring<Request> requests_;
  RingOfLists<ddp::Sge> sges_;
  RingOfLists<std::byte> inline_;
  alignas(64) RingPosition head_;
  alignas(64) RingPosition tail_;
};

}  // namespace iwarp::rdmap
