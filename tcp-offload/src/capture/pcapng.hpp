#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "iwarp/base/bytes.hpp"

/// Blocks of the pcapng capture file format (draft-ietf-opsawg-pcapng), least significant octet
/// first. A file is a section header, an interface, then packets; each function appends one block.
namespace iwarp::tcp_offload::capture {

/// Wall-clock time since 1970, UTC.
using WallTime = std::chrono::nanoseconds;

/// As seen by the host that captures (§4.3.1, epb_flags).
enum class Direction : std::uint32_t { kInbound = 1, kOutbound = 2 };

void append_section_header(std::vector<std::byte>& file);

/// The one interface: raw IP packets of any length, times in nanoseconds.
void append_interface(std::vector<std::byte>& file);

/// Appends an enhanced packet block; returns the place of the packet's `size` octets, zeroed, which
/// holds until `file` grows again.
MutableBytes append_packet(std::vector<std::byte>& file, Direction direction, WallTime when,
                           std::size_t size);

}  // namespace iwarp::tcp_offload::capture
