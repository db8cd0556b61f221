#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "iwarp/verbs/provider.hpp"

namespace iwarp::compat {

/// The provider that all devices of this process share. Made at the first call, so that a program
/// which only looks at devices starts nothing; it lives as long as anything made from it. A process
/// that was forked gets one of its own.
std::shared_ptr<verbs::provider::Provider> provider();

/// What the device calls itself: iWARP, or InfiniBand for programs that refuse anything else
/// (IWARP_DEVICE_AS=ib).
bool shows_as_ib();

/// Whether an id is told TIMEWAIT_EXIT behind DISCONNECTED: by default as InfiniBand's is and
/// iWARP's is not; IWARP_TIMEWAIT_EXIT=1 or 0 says otherwise.
bool tells_timewait_exit();

/// How long a Send waits for a receive (verbs::QpOptions::receive_wait): a second, as programs made
/// for InfiniBand count on its trying again; IWARP_RECEIVE_WAIT names another number of
/// milliseconds.
std::chrono::milliseconds receive_wait();

/// How long the end of a connection waits while nothing moves (verbs::QpOptions::linger):
/// IWARP_LINGER, in milliseconds.
std::chrono::milliseconds linger_time();

/// How long a connection lasts without a sign of life from the peer (verbs::QpOptions::liveness):
/// IWARP_PEER_TIMEOUT, in milliseconds, for what is unacknowledged, and half of it until a silent
/// peer is asked; 0: without limit.
verbs::Liveness liveness();

/// Whether the program leaves alone what it sends (verbs::QpOptions::source_buffers): it may change
/// it, unless IWARP_SOURCE_BUFFERS=stable promises otherwise.
verbs::SourceBuffers source_buffers();

/// The most octets of an FPDU that is sent (verbs::QpOptions::max_fpdu): what fits a segment,
/// unless IWARP_MAX_FPDU names a number.
std::uint32_t max_fpdu();

}  // namespace iwarp::compat
