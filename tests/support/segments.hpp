#pragma once

#include <cstdint>
#include <vector>

#include "iwarp/ddp/header.hpp"
#include "iwarp/rdmap/control.hpp"
#include "iwarp/rdmap/read_request.hpp"
#include "iwarp/rdmap/terminate.hpp"

namespace iwarp::test {

/// One ULPDU as a peer might send it, well-formed or not.
using Ulpdu = std::vector<std::byte>;

template <typename Header>
Ulpdu segment(const Header& header, std::size_t header_size, ConstBytes payload) {
  Ulpdu ulpdu(header_size + payload.size());
  header.encode(ulpdu.data());
  std::copy(payload.begin(), payload.end(),
            ulpdu.begin() + static_cast<std::ptrdiff_t>(header_size));
  return ulpdu;
}
inline Ulpdu segment(const ddp::TaggedHeader& header, ConstBytes payload = {}) {
  return segment(header, ddp::kTaggedHeaderSize, payload);
}
inline Ulpdu segment(const ddp::UntaggedHeader& header, ConstBytes payload = {}) {
  return segment(header, ddp::kUntaggedHeaderSize, payload);
}

inline ddp::TaggedHeader tagged(rdmap::Opcode opcode, Stag stag, TaggedOffset to,
                                ddp::Last last = ddp::Last::kYes) {
  return {last, rdmap::encode_control(opcode), stag, to};
}

/// The header of a message on the queue that its opcode belongs to.
inline ddp::UntaggedHeader untagged(rdmap::Opcode opcode, std::uint32_t msn, std::uint32_t mo = 0,
                                    ddp::Last last = ddp::Last::kYes) {
  return {last,     rdmap::encode_control(opcode),
          0,        rdmap::traits(opcode).qn,
          Msn{msn}, MessageOffset{mo}};
}

inline Ulpdu encoded(const rdmap::ReadRequest& request) {
  Ulpdu bytes(rdmap::ReadRequest::kSize);
  request.encode(bytes.data());
  return bytes;
}

inline Ulpdu encoded(const rdmap::Terminate& message) {
  Ulpdu bytes(rdmap::Terminate::kMaxSize);
  bytes.resize(message.encode(bytes.data()));
  return bytes;
}

/// `size` octets that differ from their neighbours and are never zero.
inline Ulpdu pattern(std::size_t size, unsigned seed = 0) {
  Ulpdu bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 37U + seed * 101U) % 255U + 1U);
  }
  return bytes;
}

}  // namespace iwarp::test
