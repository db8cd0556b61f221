#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "file_service/wire/life_signs.hpp"
#include "file_service/wire/page_buffer.hpp"
#include "iwarp/verbs/verbs.hpp"
#include "start_up/connection_life.hpp"

namespace iwarp::cli::file_service {

/// The connection is over; what() says why.
class LinkLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How many messages of which size a link holds in each direction.
struct LinkSizes {
  std::uint16_t receives = 0;
  std::uint16_t sends = 0;
  std::uint32_t receive_size = 0;
  std::uint32_t send_size = 0;
  std::uint32_t data_requests = 0;  ///< RDMA Reads and Writes under way at once.
};

/// One connection with a protection domain, a completion queue and message buffers of its own.
/// Messages go by Send; RDMA Reads and Writes move data. One thread uses it, save for abort().
class Link {
 public:
  /// Creates the objects and posts all receives. A peer that takes in nothing is waited for as long
  /// as `patience`, or for a minute. `max_fpdu` as in verbs::QpOptions. Throws a CommandError.
  Link(verbs::Device& device, const LinkSizes& sizes, std::chrono::milliseconds patience,
       std::uint32_t max_fpdu = 0);

  /// Connects, as ConnectionLife::connect.
  verbs::ConnectionInfo connect(const verbs::Endpoint& to, const verbs::ConnectOptions& options,
                                const std::function<void()>& check_interrupt);
  /// Accepts a peer. Throws a LinkLost.
  verbs::ConnectionInfo accept(verbs::ConnectionRequest& request,
                               const verbs::ConnectOptions& options);

  /// What a completion meant.
  struct Event {
    enum class Kind : std::uint8_t { kMessage, kSent, kRead };
    Kind kind = Kind::kMessage;
    std::uint16_t slot = 0;    ///< kMessage: whose bytes message() returns until recycle().
    std::uint32_t length = 0;  ///< kMessage.
    std::uint8_t tag = 0;      ///< kSent: what the sender said.
  };
  /// The next event; none when the time is over and the socket has nothing more. Shows the peer
  /// that this end lives while it takes in data. Throws a LinkLost.
  std::optional<Event> wait(std::chrono::milliseconds timeout);
  /// Octets that have moved since the connection was made, in both directions. What was sent counts
  /// when the system has taken it.
  [[nodiscard]] std::uint64_t octets_moved() const;
  /// Lets the peer see octets of this end, but not too many at a time. Throws a LinkLost.
  void show_life();

  [[nodiscard]] ConstBytes message(const Event& event) const;
  /// Gives the buffer of a received message back to the peer's next one.
  void recycle(std::uint16_t slot);

  /// How many messages can be sent before a kSent event.
  [[nodiscard]] std::size_t free_sends() const { return free_sends_.size(); }
  /// An empty message buffer to be passed to send(). Precondition: one is free.
  [[nodiscard]] MutableBytes outgoing();

  /// What goes with a message.
  struct Write {
    verbs::Sge from;
    verbs::RemoteBuffer to;
  };
  struct SendExtras {
    std::uint8_t tag = 0;
    std::optional<Stag> invalidate{};  ///< The peer's STag that ends with the message.
    std::optional<Write> write{};      ///< Data that is placed before; the same batch.
  };
  /// Sends the first `length` octets of the last outgoing(). Throws a LinkLost.
  void send(std::size_t length, const SendExtras& extras);
  void send(std::size_t length) { send(length, SendExtras{}); }
  /// Reads from the peer; kRead events come in the order of the calls. Throws a LinkLost.
  void read(const verbs::Sge& into, const verbs::RemoteBuffer& from);

  [[nodiscard]] verbs::ProtectionDomain& domain() { return domain_; }
  /// As ConnectionLife::sleep.
  void sleep(std::chrono::milliseconds timeout) { life_->sleep(timeout); }
  /// Any thread. Does not throw.
  void wake() noexcept { life_->wake(); }
  /// Lets what was sent arrive, then closes.
  void close() { qp_.disconnect(); }
  /// Whether the connection is over; waits up to `timeout` for that.
  bool over(std::chrono::milliseconds timeout);
  /// Resets the connection; a waiting thread gets a LinkLost. Thread-safe.
  void abort() { qp_.abort(); }

 private:
  [[nodiscard]] verbs::QpOptions qp_options(std::chrono::milliseconds patience,
                                            std::uint32_t max_fpdu) const;
  /// The next one that lies in the queue, or comes within `timeout`.
  std::optional<Event> next_event(std::chrono::milliseconds timeout);
  /// What a completion means to the user of the link: nothing if it is a sign's. Throws a LinkLost.
  std::optional<Event> event_of(const verbs::Completion& completion);
  void show_life_if_due();
  [[nodiscard]] std::string why_lost(verbs::Status status) const;
  void check_posted(const Result<void, verbs::PostError>& posted, const char* what) const;
  [[nodiscard]] std::size_t outgoing_offset() const;

  LinkSizes sizes_;
  std::shared_ptr<ConnectionLife> life_;
  PageBuffer memory_;
  verbs::ProtectionDomain domain_;
  verbs::CompletionQueue cq_;
  verbs::MemoryRegion region_;
  std::vector<std::uint16_t> free_sends_;
  std::vector<std::uint8_t> tags_;  ///< Of each send buffer.
  LifeSigns life_signs_;
  std::uint32_t signs_under_way_ = 0;
  verbs::QueuePair qp_;
};

}  // namespace iwarp::cli::file_service
