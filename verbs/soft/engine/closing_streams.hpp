#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "iwarp/provider/lock.hpp"
#include "iwarp/tcp_offload/readiness.hpp"
#include "soft/engine/attempts.hpp"
#include "soft/engine/stream_closer.hpp"

namespace iwarp::verbs::soft {

/// Sees streams off that their queue pairs have left: what the engine's thread does for them, and
/// see_off(), which any thread may call.
class ClosingStreams {
 public:
  using Time = StreamCloser::Time;

  /// Watches their sockets with `sockets`, and raises `wake` when one has arrived.
  ClosingStreams(tcp_offload::ReadinessSet& sockets, tcp_offload::EventCount& wake,
                 Attempts& attempts)
      : sockets_(sockets), wake_(wake), attempts_(attempts) {}

  void see_off(ClosingStream closing);

  // The engine's thread, with the running time.
  /// Begins with those that have arrived.
  void take_in(Time now);
  /// Whether a token is one of theirs: those are odd.
  [[nodiscard]] static bool owns(std::uint64_t token) { return token % 2 == 1; }
  /// The socket of that token is ready.
  void serve(std::uint64_t token, Time now);
  /// Looks at all: no socket tells that the peer has acknowledged, or that a time is over.
  void look_at_all(Time now);
  [[nodiscard]] bool any() const;
  [[nodiscard]] bool none_undelivered() const;

 private:
  void begin(ClosingStream stream, Time now);
  bool turn(StreamCloser& closer, Time now);

  tcp_offload::ReadinessSet& sockets_;
  tcp_offload::EventCount& wake_;
  Attempts& attempts_;
  mutable Mutex mutex_;
  std::vector<ClosingStream> arriving_ IWARP_GUARDED_BY(mutex_);

  // The engine's thread's.
  std::unordered_map<std::uint64_t, StreamCloser> closing_;
  std::uint64_t next_token_ = 1;
};

}  // namespace iwarp::verbs::soft
