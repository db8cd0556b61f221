#pragma once

#include "harness/stream.hpp"

/// Whole messages, where a case does not care how they are cut into segments.
namespace iwarp::conform {

/// A message that the target sent to a queue.
struct UntaggedMessage {
  std::uint32_t invalidate_stag = 0, msn = 0;
  Octets payload;
  std::size_t segments = 0;
};

/// A message that the target sent to a Tagged Buffer.
struct TaggedMessage {
  std::uint32_t stag = 0;
  std::uint64_t to = 0;
  Octets payload;
  std::size_t segments = 0;
};

/// The next message is of this opcode and on this queue. Its segments follow each other, agree in
/// RsvdULP, QN and MSN, each MO is what came before, and the last one alone has L set (RFC 5041
/// §4.1, §4.3, §5.2).
UntaggedMessage expect_untagged_message(Stream& stream, Opcode opcode, std::uint32_t qn);
/// The same with STag and TO (RFC 5041 §4.2, §5.2).
TaggedMessage expect_tagged_message(Stream& stream, Opcode opcode);

/// The target asks to read, by a whole RDMA Read Request Message (RFC 5040 §4.4).
struct ReceivedRead {
  std::uint32_t msn = 0;
  ReadRequest request;
};
ReceivedRead expect_read_request(Stream& stream);
struct ReceivedAtomic {
  std::uint32_t msn = 0;
  AtomicRequest request;
};
ReceivedAtomic expect_atomic_request(Stream& stream);

/// `whole` in segments with at most `cut` octets of payload.
std::vector<Segment> cut_message(const Segment& whole, std::size_t cut);
/// Sends them one after the other.
void send_cut(Stream& stream, const Segment& whole, std::size_t cut);

}  // namespace iwarp::conform
