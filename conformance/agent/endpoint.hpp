#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agent/command.hpp"
#include "agent/patience.hpp"
#include "iwarp/verbs/verbs.hpp"

namespace iwarp::agent {

/// What happened to a connection, in order, from the device's threads to the agent's.
class EventQueue {
 public:
  void add(const verbs::ConnectionEvent& event);
  std::optional<verbs::ConnectionEvent> next(std::chrono::milliseconds timeout);
  /// Whether anything has happened yet, taken out or not.
  bool any(std::chrono::milliseconds timeout);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<verbs::ConnectionEvent> events_;
  bool any_ = false;
};

/// A work request that has ended, as the tester is told of it.
struct Report {
  std::uint64_t id = 0;
  std::string op;
  verbs::Completion completion;
};

/// A queue pair with a completion queue of its own, and what it may become connected by.
class Endpoint {
 public:
  Endpoint(verbs::Device& device, verbs::ProtectionDomain& pd);

  // One of these is there until the connection begins.
  std::optional<verbs::ConnectionRequest> incoming;  ///< Of `await`.
  std::optional<verbs::Endpoint> peer;               ///< Of `dial`.
  verbs::ConnectOptions options;                     ///< Of `dial`.

  verbs::QueuePair& qp() { return qp_; }
  /// After `accept` or `connect`.
  void begin() { begun_ = true; }
  std::optional<verbs::ConnectionEvent> event(std::chrono::milliseconds timeout) {
    return events_->next(timeout);
  }

  /// No element: room for nothing.
  void receive(std::uint64_t id, std::span<const verbs::Sge> sges);
  /// `request` gets a wr_id and is signalled. Waits for a connection that has begun.
  void post(std::uint64_t id, const std::string& op, verbs::SendWr request, const Attend& attend);
  std::optional<Report> completion(std::chrono::milliseconds longest, const Attend& attend);
  /// Binds a window and waits until that is done; other completions are kept. Waits as post().
  void bind(const verbs::BindWr& binding, const Attend& attend);

 private:
  struct Posted {
    std::uint64_t id = 0;
    std::string op;
  };
  std::uint64_t remember(std::uint64_t id, const std::string& op);
  void await_connection(const Attend& attend);
  // Throws what a post came to, after forgetting its request, if it was not taken.
  void check(const Result<void, verbs::PostError>& posted, std::uint64_t wr_id);
  // A completion of the tester's; those of bindings are noted.
  std::optional<Report> next_report(std::chrono::milliseconds slice);
  Report report_of(const verbs::Completion& completion);

  std::shared_ptr<EventQueue> events_ = std::make_shared<EventQueue>();
  verbs::CompletionQueue cq_;
  verbs::QueuePair qp_;
  std::map<std::uint64_t, Posted> posted_;  // by the wr_id that the stack sees
  std::uint64_t next_wr_id_ = 1;
  bool begun_ = false;
  std::optional<verbs::Status> bound_;
  std::deque<Report> kept_;  // came while a window was being bound
};

}  // namespace iwarp::agent
