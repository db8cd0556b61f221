#pragma once

#include <cstdint>

namespace iwarp::verbs::soft {

class SoftQp;

/// What a set of sockets says of the one that woke the program instead of a socket: QPs use their
/// own address, which is never this.
inline constexpr std::uint64_t kWakeToken = 0;

/// What a set of sockets says of the socket of `qp`.
inline std::uint64_t token_of(const SoftQp& qp) { return reinterpret_cast<std::uintptr_t>(&qp); }

}  // namespace iwarp::verbs::soft
