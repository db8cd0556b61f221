#pragma once

#include <chrono>
#include <string>

#include "iwarp/verbs/connection.hpp"
#include "iwarp/verbs/provider.hpp"

/// What a program can choose for a queue pair. Part of verbs.hpp, which says what goes for all
/// handles.
namespace iwarp::verbs {

class SharedReceiveQueue;

/// What a queue pair is made with.
struct QpOptions {
  QpCapacity capacity{};  ///< How many requests it holds, and how large ones.
  Signaling signaling = Signaling::kPerRequest;  ///< Whether SendFlags::kSignaled counts, or all
                                                 ///< sends complete visibly.
  ConnectionHandler on_event{};                  ///< Besides the blocking calls; may be empty.
  const SharedReceiveQueue* srq = nullptr;       ///< Of the same PD: receives come from there only.
  /// How long a Send or an Immediate Data Message that finds no receive may wait for one, up to 1
  /// s; meanwhile nothing behind it is read. Without one in that time, and by default at once, the
  /// stream is terminated (RFC 5041 §7.1). It is there for programs made for InfiniBand, whose
  /// adapters try again.
  std::chrono::milliseconds receive_wait{0};
  /// How long the end of the connection waits while nothing moves, up to an hour: while the peer
  /// acknowledges nothing of what was sent, or has everything and does not close. Each octet that
  /// moves begins the time anew, so that a peer that reads slowly, or pauses, gets everything.
  /// Beyond that time the program is told of an abortive end if something was not acknowledged.
  std::chrono::milliseconds linger = kDefaultLinger;
  /// How long it lasts without a sign of life from the peer. Of an accepted connection the
  /// listener's counts, if ListenOptions::liveness has been set.
  Liveness liveness{};
  /// A directory in which the connection is recorded for Wireshark, from its start-up on; empty:
  /// nowhere. Where the environment variable IWARP_CAPTURE names a directory, that one takes the
  /// connections of every queue pair instead. A capture that fails is logged and changes nothing
  /// else.
  std::string capture{};
  /// Whether the program leaves alone what it sends until that is done. What peers read may change
  /// at any time.
  SourceBuffers source_buffers = SourceBuffers::kMayChange;
};

}  // namespace iwarp::verbs
