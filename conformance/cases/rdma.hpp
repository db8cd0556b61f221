#pragma once

#include <span>

#include "cases/catalogue.hpp"
#include "harness/messages.hpp"

/// What the cases of the layers DDP and RDMAP share.
namespace iwarp::conform {

using Causes = std::vector<Cause>;

/// An STag and a TO at which a target has nothing registered, unless by an improbable chance.
inline constexpr std::uint32_t kWildStag = 0xDEADBEEF;
inline constexpr std::uint64_t kWildTo = 0xFEDCBA9876543210;

/// The target has posted receives 1 to `count` of `size` octets each, one behind the other in
/// `region`.
Link link_with_receives(Context& context, const Region& region, std::size_t count,
                        std::size_t size);

/// The target may send: it has had an FPDU of the tester, which took MSN 1 of queue 1.
Link talking_link(Context& context);
Link talking_link(Context& context, const LinkOptions& options);

/// An empty Read and its response: the target has processed all that was sent before.
void sync(Stream& stream);

/// A Terminate with one of these causes, then the end of the connection and nothing in between.
Terminate expect_terminated(Stream& stream, const Causes& causes);

/// The next completion is that of `id`, and it did not succeed.
void expect_failed_completion(Context& context, Endpoint& endpoint, std::uint64_t id);
/// Its program learns that the connection has ended.
void expect_disconnected(Context& context, Endpoint& endpoint);

/// Reads from the target with a Read Request and puts its response together.
Octets read_from(Stream& stream, std::uint32_t stag, std::uint64_t to, std::uint32_t size);

/// For LinkOptions::max_segment_size: bounds the target's EMSS and so its MULPDU (RFC 5044 §4.5).
inline constexpr int kSmallSegments = 1000;
/// Segments of `opcode` with `size` octets in all come, and each FPDU fits into a TCP segment.
void expect_small_segments(Context& context, Stream& stream, Opcode opcode, std::size_t size);

Segment empty_write();
Segment empty_read_request(std::uint32_t msn);

/// Segments with each of `bits` set in a control octet, one after the other, are taken like those
/// without.
void expect_bits_ignored_when_tagged(Context& context, std::uint8_t Segment::*control,
                                     std::span<const std::uint8_t> bits);
/// The same.
void expect_bits_ignored_when_untagged(Context& context, std::uint8_t Segment::*control,
                                       std::span<const std::uint8_t> bits);

}  // namespace iwarp::conform
