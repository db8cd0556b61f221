#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "iwarp/base/bytes.hpp"
#include "wire/ring.hpp"
#include "wire/sizes.hpp"
#include "wire/wire.hpp"

namespace iwarp::rsocket {

/// Memory and its registration. The memory outlives the registration.
class Region {
 public:
  Region() = default;
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  void close();  ///< Ends the registration; the memory stays.
  /// Allocates zeroed memory. Returns 0 or an errno.
  int open(ibv_pd* pd, std::size_t size, unsigned access);
  [[nodiscard]] MutableBytes bytes() const { return {memory_.get(), size_}; }
  [[nodiscard]] MutableBytes bytes(RingPiece piece) const {
    return bytes().subspan(piece.offset, piece.length);
  }
  [[nodiscard]] ibv_mr* mr() const { return mr_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
  ibv_mr* mr_ = nullptr;
};

/// The verbs objects of one connected rsocket. What is posted to them, Stream decides.
/// Not thread-safe.
class Connection {
 public:
  /// What a poll found.
  struct Polled {
    std::vector<Message> messages;
    bool sent = false;      ///< Something posted has completed.
    bool broken = false;    ///< A work request failed, or was flushed.
    bool nonsense = false;  ///< The peer sent what is no Message.
  };

  /// The most work requests that one post() takes.
  static constexpr std::uint32_t kChain = 2;

  /// `id` outlives this.
  explicit Connection(rdma_cm_id* id) : id_(id) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Creates the queue pair of `id`, which has a device, and posts all receives. Returns 0 or an
  /// errno.
  int open(Sizes sizes);
  /// Precondition for this and what follows: open() returned 0.
  [[nodiscard]] Hello hello() const;

  /// How many octets may wait to be sent now; 0 also when the queue is full.
  [[nodiscard]] std::uint64_t send_room() const;
  /// Whether a Message alone may be posted.
  [[nodiscard]] bool message_room() const { return queue_room() > 0; }
  /// Memory for `length` octets that a post() right behind this one sends.
  RingRange stage(std::uint64_t length) { return staging_.claim(length); }
  [[nodiscard]] MutableBytes staged(RingPiece piece) const { return send_buffer_.bytes(piece); }

  struct Write {
    RingRange from;             ///< In the send buffer: what was staged last.
    std::uint64_t address = 0;  ///< The Tagged Offset.
    std::uint32_t key = 0;      ///< The STag.
  };
  /// Posts an RDMA Write, a Message or both in this order, as one chain. What was staged is free
  /// again when the chain has completed. Returns 0 or an errno. Precondition: there is room.
  int post(const Write* write, const Message* message);

  /// Takes completions until there is none, and posts the receives of Messages again.
  void poll(Polled& into);
  /// Whether everything posted has completed.
  [[nodiscard]] bool idle() const { return in_flight_.empty(); }

  /// Asks for an event at the next completion; poll() once more afterwards. Returns 0 or an errno.
  int arm();
  /// Takes back what arm() asked for, if it has come. Whether it came.
  bool take_events();
  /// Readable when the event came.
  [[nodiscard]] int event_fd() const { return channel_->fd; }

  [[nodiscard]] ibv_pd* pd() const { return pd_; }
  /// The ring that the peer writes.
  [[nodiscard]] MutableBytes received(RingPiece piece) const {
    return receive_buffer_.bytes(piece);
  }

 private:
  struct InFlight {
    std::uint64_t staged = 0;
    std::uint32_t requests = 0;
  };

  int create_queues();
  int post_receive(std::uint64_t index);
  int post_chain(std::span<ibv_send_wr> requests, InFlight chain);
  [[nodiscard]] std::uint32_t queue_room() const { return sizes_.send_queue - queued_; }
  void take_completion(const ibv_wc& completion, Polled& into);
  void take_message(const ibv_wc& completion, Polled& into);

  rdma_cm_id* id_;
  Sizes sizes_;
  ibv_pd* pd_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* cq_ = nullptr;
  bool has_qp_ = false;
  bool armed_ = false;

  Region receive_buffer_, send_buffer_, incoming_, outgoing_;
  RingSpace staging_{0};
  std::deque<InFlight> in_flight_;  // chains, oldest first
  std::uint32_t queued_ = 0;        // work requests in them
  std::uint64_t chains_ = 0;        // since the start
};

}  // namespace iwarp::rsocket
