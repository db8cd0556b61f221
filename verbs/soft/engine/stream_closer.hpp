#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "iwarp/tcp_offload/readiness.hpp"
#include "iwarp/tcp_offload/stream.hpp"

namespace iwarp::verbs::soft {

/// A stream that its queue pair has left: what TCP has accepted, and the rest of the FPDU that was
/// being sent, are still to arrive at the peer (RFC 5041 §3, §6.2.1).
struct ClosingStream {
  std::shared_ptr<void> keep;     ///< What the stream may still read from: outlives it.
  std::vector<std::byte> unsent;  ///< The rest of the FPDU that was being sent; likewise.
  std::unique_ptr<tcp_offload::Stream> stream;
  /// How long nothing may move before the stream is given up.
  std::chrono::milliseconds linger{0};
  std::uint32_t qp_number = 0;  ///< For the log; 0: it had none.
};

/// Closes one stream such that what was accepted arrives: sends the rest, then FIN, drops what
/// comes in, since unread octets would make TCP reset the connection, and waits until the peer's
/// TCP has acknowledged everything and the peer has ended its half. Progress begins the waiting
/// time anew: each octet that is sent or acknowledged. Not thread-safe; the time is an argument.
class StreamCloser {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class State {
    kUndelivered,  ///< Octets or FIN are not acknowledged yet.
    kAwaitsFin,    ///< The peer has everything and keeps its own half open.
    kOver,         ///< To be destroyed.
  };

  StreamCloser(ClosingStream closing, Time now);

  /// Does what can be done. To be called when the socket is ready, and now and then: nothing
  /// signals an acknowledgement.
  State turn(Time now);
  [[nodiscard]] State state() const { return state_; }
  /// How long it has been waiting for something to move.
  [[nodiscard]] Time::duration waited(Time now) const { return now - moved_; }
  /// What the socket is to be watched for.
  [[nodiscard]] tcp_offload::Interest interest() const;
  [[nodiscard]] int descriptor() const { return closing_.stream->descriptor(); }
  /// Why not everything has arrived, for the log; empty if it has, or may still.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  void send_rest();
  void drop_input();
  void judge(Time now);
  void give_up();
  void fail(const std::string& why);
  [[nodiscard]] std::size_t unsent() const { return closing_.unsent.size() - sent_; }

  ClosingStream closing_;
  State state_ = State::kUndelivered;
  std::size_t sent_ = 0;  // of closing_.unsent
  bool input_ended_ = false;
  bool awaits_memory_ = false;        // the system had none to send with
  std::uint64_t unacknowledged_ = 0;  // at the last turn
  Time moved_;                        // when something moved last
  std::string failure_;
};

}  // namespace iwarp::verbs::soft
