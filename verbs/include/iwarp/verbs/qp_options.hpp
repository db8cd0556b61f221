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
  /// Of the same PD: receives come from there only. A connection that ends has no receives of its
  /// own to be flushed, so that no completion tells of its end unless sends were under way:
  /// `on_event` does (kDisconnected), wait_disconnected() waits for it, state() says so, and
  /// AsyncEvent::Kind::kQpLastWqeReached comes when it takes no more from the shared queue.
  const SharedReceiveQueue* srq = nullptr;
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
  /// The most octets of an FPDU that this end sends, in Sends, Writes and the answers to the peer's
  /// Reads: kLeastMaxFpdu to kGreatestMaxFpdu, or 0 for what fits a TCP segment, as RFC 5044 §3 and
  /// §5.1 recommend. Larger ones save both ends time where segments are small. Any receiver should
  /// take them, as §3 permits ULPDUs of up to 64,768 octets, but not every adapter does, or does it
  /// fast: know the peer. What fits a segment is the least: a smaller value is without effect.
  /// Nothing of this is negotiated, each end chooses for what it sends; an accepted connection is
  /// as the queue pair that it was accepted with. docs/performance.md says when it pays.
  std::uint32_t max_fpdu = 0;
};

}  // namespace iwarp::verbs
