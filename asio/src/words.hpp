#pragma once

#include <cstdint>
#include <string>

#include "iwarp/asio/connection.hpp"

/// Requests in the sentences about what is wrong with them.
namespace iwarp::asio::detail {

/// Whether it is a Write, a Read or an atomic, which name memory of the peer.
bool names_peers_memory(const posted_base& operation);
/// Octets of a list in all.
std::uint64_t length_of(const const_buffer_list& buffers);
/// The peer's memory in a sentence: "STag 0x…, Tagged Offset 0x…".
std::string to_text(const remote_buffer& buffer);

}  // namespace iwarp::asio::detail
