#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "iwarp/base/bytes.hpp"
#include "iwarp/sim/options.hpp"
#include "schedule.hpp"

namespace iwarp::tcp_offload::sim {

/// What a pipe tells the connection it belongs to.
class PipeObserver {
 public:
  /// Octets or FIN have arrived.
  virtual void on_arrival() = 0;
  /// The sender may have room again.
  virtual void on_room() = 0;
  /// The sender's reset has arrived.
  virtual void on_reset() = 0;
  /// An injected fault breaks the connection here.
  virtual void on_break() = 0;

 protected:
  ~PipeObserver() = default;
};

/// What the octets go through before they arrive, beyond delay.
struct PipeFaults {
  std::map<std::uint64_t, std::byte> flips;     // bits to invert, by offset
  std::map<std::uint64_t, Nanoseconds> stalls;  // pauses to make, by offset
  std::optional<std::uint64_t> reset;           // the offset that breaks the connection
  TimePoint stalled_until{};
};

/// One direction of a connection: send buffer, segments under way and receive buffer, with the flow
/// control of TCP.
class Pipe {
 public:
  Pipe(World& world, const SimOptions& options, PipeObserver& observer)
      : world_(world), options_(options), observer_(observer) {}

  // --- The sender's end.

  /// Takes up to `limit` octets; returns how many, 0 if the send buffer is full.
  std::size_t accept(std::span<const iovec> pieces, std::size_t limit, SimMemory memory);
  /// FIN after what has been accepted.
  void finish();
  /// A reset after what is under way; what is not under way yet is dropped.
  void send_reset();
  /// Drops what is not under way yet and stops sending.
  void stop();
  /// Copies what is still referenced, so that the sender's memory can go.
  void own_memory();
  [[nodiscard]] std::uint64_t accepted() const { return accepted_; }
  [[nodiscard]] std::uint64_t released() const;
  /// Octets accepted that the receiver's device has not acknowledged.
  [[nodiscard]] std::uint64_t unacknowledged() const { return accepted_ - acknowledged_; }
  [[nodiscard]] std::size_t emss() const { return options_.emss; }
  [[nodiscard]] std::size_t send_quantum() const { return options_.send_quantum; }

  // --- The receiver's end.

  /// Octets that have arrived and have not been taken.
  [[nodiscard]] std::size_t unread() const { return received_.size(); }
  /// Whether FIN has arrived.
  [[nodiscard]] bool ended() const { return fin_arrived_; }
  /// Takes into.size() octets, at most unread(). The window opens when they are consumed.
  void take(MutableBytes into);
  void consumed(std::size_t n);
  /// No reader takes octets any more; those that have arrived vanish, and so do those to come.
  void abandon();
  /// Whatever is under way is lost; what has arrived can still be taken.
  void cut() { cut_ = true; }
  [[nodiscard]] std::uint64_t arrived() const { return arrived_; }

  // --- The network.

  [[nodiscard]] PipeFaults& faults() { return faults_; }
  [[nodiscard]] SimOptions& options() { return options_; }
  [[nodiscard]] World& world() { return world_; }
  /// Breaks the connection if the fault's offset has been passed.
  void check_reset();

 private:
  enum class Kind { kData, kFin, kReset };

  struct Segment {
    Kind kind = Kind::kData;
    std::vector<std::byte> data;
  };

  struct Chunk {
    std::vector<std::byte> copy;  // empty if the memory is referenced
    ConstBytes bytes;
  };

  void plan_transmit();
  void transmit();
  std::vector<std::byte> next_payload(std::size_t size);
  void put_under_way(Segment segment);
  void deliver();
  bool stall_before(const Segment& segment);
  void deliver_data(std::vector<std::byte> data);
  void break_connection();
  void apply_flips(MutableBytes data);
  void plan_acknowledgement();
  void acknowledge(std::uint64_t up_to);

  World& world_;
  SimOptions options_;
  PipeObserver& observer_;
  PipeFaults faults_;

  std::deque<Chunk> unsent_;
  std::size_t unsent_size_ = 0;
  std::deque<Segment> under_way_;
  TimePoint last_arrival_{};
  std::deque<std::byte> received_;

  // Octets since the beginning of the connection.
  std::uint64_t accepted_ = 0;
  std::uint64_t transmitted_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t announced_ = 0;    // of those consumed, what the sender has been or will be told
  std::uint64_t window_base_ = 0;  // and what it has been told
  std::uint64_t acknowledged_ = 0;
  std::uint64_t released_ = 0;

  bool transmit_planned_ = false;
  bool fin_wanted_ = false;
  bool fin_sent_ = false;
  bool fin_arrived_ = false;
  bool stopped_ = false;
  bool abandoned_ = false;
  bool cut_ = false;
};

}  // namespace iwarp::tcp_offload::sim
