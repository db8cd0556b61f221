#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "file_service/server/get_operation.hpp"
#include "file_service/server/list_operation.hpp"
#include "file_service/server/put_operation.hpp"
#include "file_service/server/slots.hpp"
#include "file_service/server/store.hpp"
#include "file_service/wire/limits.hpp"
#include "file_service/wire/link.hpp"
#include "file_service/wire/silence.hpp"

namespace iwarp::cli::file_service {

/// For how long nothing may move before a session drops its client.
struct SessionTimeouts {
  std::chrono::milliseconds first_request = kFirstRequestTimeout;  ///< Until one has come.
  std::chrono::milliseconds idle = kIdleTimeout;                   ///< Nothing is under way.
  std::chrono::milliseconds stall = kStallTimeout;                 ///< Something is.
  /// The same, if another client needs the slot or the buffers.
  std::chrono::milliseconds stall_while_full = kStallWhileFull;
};

/// One client of a server, from its acceptance to its end: takes requests in order, one operation
/// at a time, and trusts the client in nothing. When it is stopped, what it has answered still
/// arrives, an operation whose octets have all moved is finished, and the first request that would
/// move more is answered with kEnded.
class Session {
 public:
  /// Gets what the client does with its slot, when that changes, on the thread of run().
  using UseHandler = std::function<void(SlotUse)>;

  /// `max_fpdu` as in verbs::QpOptions. Throws a CommandError if the device has no room for another
  /// connection.
  Session(verbs::Device& device, const Store& store, BufferBudget& budget, Standing standing,
          const SessionTimeouts& timeouts, std::uint32_t max_fpdu, UseHandler on_use);

  /// Accepts the client and serves it until it leaves, errs or falls silent. Does not throw.
  void run(verbs::ConnectionRequest request, const verbs::ConnectOptions& options);
  /// Makes run() return as soon as the client has taken its last answer, or nothing has moved for
  /// SessionTimeouts::stall. Thread-safe.
  void stop();
  /// Resets the connection, since its slot goes to another client. Thread-safe.
  void give_up() { link_.abort(); }
  /// Whether an operation came to its end, be it a failure that was answered. Once run() has
  /// returned.
  [[nodiscard]] bool has_served() const { return served_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// A request that has arrived; the view refers to the message's receive buffer.
  struct Waiting {
    std::uint16_t receive_slot;
    RequestView request;
  };

  void serve();
  /// What happens next; none: nothing, for a while.
  std::optional<Link::Event> next_event();
  /// Whether its transfer waits for its first buffer.
  [[nodiscard]] bool in_line() const;
  /// And whether the client has asked for what goes into it.
  [[nodiscard]] bool waits_in_line() const { return in_line() && !waiting_.empty(); }
  /// One of a client that has got something is a stranger's no more.
  [[nodiscard]] Standing standing() const { return served_ ? Standing::kKnown : standing_; }
  /// Closes the connection behind the last answer and waits for the client to take that.
  void see_off();
  /// Whether an ending session has nothing more to say.
  [[nodiscard]] bool finished() const;
  [[nodiscard]] bool under_way() const;
  void handle(const Link::Event& event);
  /// Starts waiting requests, as many as have what they need.
  void take_requests();
  [[nodiscard]] bool can_take(Operation operation) const;
  void take(const Job& job, const RequestView& request);
  /// The last answer of an ending session.
  void refuse(const Job& job);
  void fail_to_open(const Job& job, const std::error_code& error);
  void open_put(const Job& job, const RequestView& request);
  void commit(const Job& job, const RequestView& request);
  void open_get(const Job& job, const RequestView& request);
  void finish(const Job& job);
  void list(const Job& job, const RequestView& request);
  /// Whether every answer has been sent and no RDMA Read is under way.
  [[nodiscard]] bool quiet() const;
  [[nodiscard]] SlotUse use(Clock::time_point now);
  void tell_use(SlotUse use);
  struct Patience {
    std::chrono::milliseconds limit;
    const char* reason;  ///< Of the end, when it is over.
  };
  /// For how long it waits before it looks at what else there is to do.
  [[nodiscard]] std::chrono::milliseconds slice() const;
  /// What is granted to the client now.
  [[nodiscard]] Patience patience() const;
  void log_loss(const char* reason) const;

  const Store& store_;
  BufferBudget& budget_;
  const Standing standing_;
  SessionTimeouts timeouts_;
  Link link_;
  std::string peer_;
  std::deque<Waiting> waiting_;
  Silence silence_;
  std::uint64_t octets_seen_ = 0;
  Clock::time_point moved_ = Clock::now();  ///< The last time that something was seen to.
  UseHandler on_use_;
  SlotUse told_use_ = SlotUse::kNothingAsked;
  bool keeps_stags_ = false;  ///< Hello::keeps_stags
  bool asked_ = false;        ///< The client has sent a request.
  bool served_ = false;       ///< An operation of its has come to its end.
  std::unique_ptr<PutOperation> put_;
  std::unique_ptr<GetOperation> get_;
  std::unique_ptr<ListOperation> list_;
  Clock::time_point operation_started_;
  bool ending_ = false;   ///< stopping_, as this turn of serve() takes it.
  bool refused_ = false;  ///< The last answer has been given.
  std::atomic<bool> accepted_{false};
  std::atomic<bool> stopping_{false};
};

}  // namespace iwarp::cli::file_service
