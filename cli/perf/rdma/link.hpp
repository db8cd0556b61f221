#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "context.hpp"
#include "iwarp/verbs/verbs.hpp"
#include "perf/messages.hpp"
#include "perf/patience.hpp"
#include "perf/rdma/rings.hpp"
#include "start_up/connection_life.hpp"

namespace iwarp::cli::perf {

/// Room in the queues of a Link, what it promises of the memory that it sends, the most octets of
/// an FPDU (verbs::QpOptions::max_fpdu), and how long its peer may show no sign of life.
struct LinkRoom {
  std::uint32_t sends = 0;
  std::uint32_t receives = 0;
  verbs::SourceBuffers buffers = verbs::SourceBuffers::kMayChange;
  std::uint32_t max_fpdu = 0;
  std::chrono::nanoseconds patience = kPatience;
};

/// The connection is over.
class LinkLost : public CommandError {
 public:
  using CommandError::CommandError;
};

/// The peer breaks the protocol.
class Unexpected : public CommandError {
 public:
  Unexpected() : CommandError("the peer sent something unexpected") {}
};

/// The server will not measure that.
class MeasurementRefused : public CommandError {
 public:
  explicit MeasurementRefused(const Refused& refused);
};

/// One end of a perf connection: a protection domain, a completion queue and a queue pair of its
/// own, the receives, and the exchange of control messages over them. Everything throws LinkLost
/// when the connection ends, a CommandError when the peer breaks the protocol. Not thread-safe: the
/// measuring thread owns it.
class Link {
 public:
  static constexpr std::uint64_t kControlWork = 1;   ///< The wr_id of control messages.
  static constexpr std::uint32_t kControlRoom = 64;  ///< Sends that control messages may take.

  Link(verbs::Device& device, LinkRoom room);

  /// Connects, as ConnectionLife::connect; a signal ends it.
  verbs::ConnectionInfo connect(const verbs::Endpoint& to, const verbs::ConnectOptions& options);
  /// Sends a last message and returns when the peer has it, or the connection is over.
  void send_last(const ControlBytes& bytes);
  /// Ends the connection in order; at once if the peer has no part in that for a second.
  void leave() noexcept;
  /// Ends the connection at once: nothing waits until the peer has taken in what was sent.
  void give_up() noexcept;

  [[nodiscard]] verbs::QueuePair& queue_pair() { return *queue_pair_; }
  [[nodiscard]] verbs::ProtectionDomain& domain() { return domain_; }
  [[nodiscard]] Patience& patience() { return patience_; }
  verbs::MemoryRegion register_memory(const Buffer& memory, verbs::Access access);

  /// poll() waits as the workload says from now on: the measured part.
  void measure(const Workload& workload);
  /// poll() takes short naps from now on: between the measured parts, and at first.
  void relax() { pace_ = Pace::kNaps; }
  /// Makes `count` receives of `size` octets and posts them all; those before have been used up.
  void use_receives(std::uint32_t count, std::uint32_t size);

  /// Successful completions; none when nothing came yet: measured by polling at once, else after a
  /// while. Valid until the next call. What came before the end of the connection is returned
  /// before that is thrown.
  std::span<const verbs::Completion> poll();
  /// The message of a receive's completion: valid until its receive is posted again.
  [[nodiscard]] ConstBytes message(const verbs::Completion& completion) const {
    return receives_->message(completion);
  }
  /// One receive has been used up. Posts them again in bulk, a quarter of all at a time: true when
  /// it did so. Fewer than four receives are used once.
  bool took_receive();
  /// Posts those again that took_receive() has not posted yet.
  void repost_receives();

  /// Posts the next `n` data requests of `ring`.
  void post(SendRing& ring, std::uint32_t n) { check(ring.post(*queue_pair_, n)); }
  /// Sends a control message; its bytes are copied.
  void send(const ControlBytes& bytes);
  /// Waits for a control message of one kind. Completions of sends and Credits before it are
  /// dropped; a Refused and everything else end the connection.
  template <typename Message>
  Message await();

 private:
  /// What poll() does while nothing is there. Naps leave no trace on the sockets: the first wait
  /// for an event puts them into an epoll set, which costs a little with every segment from then
  /// on.
  enum class Pace : std::uint8_t { kNaps, kPolls, kOneEvent, kEvents };

  std::size_t harvest();
  std::size_t wait_for_event();
  void nothing_came();
  ControlBytes await_control();
  void check(const Result<void, verbs::PostError>& outcome);
  [[noreturn]] void lost(const std::string& what) const;

  std::shared_ptr<ConnectionLife> life_ = std::make_shared<ConnectionLife>();
  verbs::ProtectionDomain domain_;
  verbs::CompletionQueue queue_;
  std::optional<ReceiveRing> receives_;
  std::optional<verbs::QueuePair> queue_pair_;  // ends before the memory it may place into
  std::array<verbs::Completion, 256> batch_{};
  Pace pace_ = Pace::kNaps;
  std::optional<verbs::Status> failed_;  // of the first request that did not succeed
  bool over_ = false;                    // seen once, when nothing had come
  std::uint32_t taken_ = 0;
  Patience patience_;
};

[[noreturn]] void throw_unexpected();

template <typename Message>
Message Link::await() {
  const ControlBytes bytes = await_control();
  if (auto message = parse<Message>(bytes)) return *message;
  if (auto refused = parse<Refused>(bytes)) throw MeasurementRefused(*refused);
  throw_unexpected();
}

}  // namespace iwarp::cli::perf
