#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "hand/greeting.hpp"
#include "iwarp/base/deadline.hpp"
#include "iwarp/verbs/provider.hpp"

namespace iwarp::compat {

/// Numbers of queue pairs. Those from here on belong to the connection manager's.
constexpr std::uint32_t kManagedNumbers = 1U << 23U;

/// How queue pairs find each other whose programs exchange GID and number themselves. Each process
/// listens at a port of a small range; the port's place in it, the slot, is in the upper bits of
/// its numbers, so that a GID and a number say where to connect. The lesser end connects, the other
/// waits for it.
class Rendezvous {
 public:
  /// That of this process.
  static Rendezvous& get();

  /// A number for a queue pair that may be connected by hand. 0 if no port is free.
  std::uint32_t take_number();
  /// Starts to connect `qp`, and returns at once. 0, or an errno.
  int meet(const std::shared_ptr<verbs::provider::Qp>& qp, const Greeting& ends,
           verbs::ConnectOptions options);
  /// Forgets a queue pair that goes.
  void forget(const verbs::provider::Qp& qp);

 private:
  struct Waiting {
    std::shared_ptr<verbs::provider::Qp> qp;
    HandEnd peer;
    verbs::ConnectOptions options;
    Deadline patience;
  };
  struct Early {
    Greeting greeting;
    std::unique_ptr<verbs::provider::IncomingConnection> request;
    Deadline patience;
  };

  bool listen();
  static int take(verbs::provider::IncomingConnection& request,
                  const std::shared_ptr<verbs::provider::Qp>& qp,
                  const verbs::ConnectOptions& options);
  void arrive(std::unique_ptr<verbs::provider::IncomingConnection> request);
  void watch();
  void give_up_some();

  std::mutex mutex_;
  std::shared_ptr<verbs::provider::Provider> provider_;
  std::shared_ptr<verbs::provider::Listener> listener_;
  std::uint32_t slot_ = 0, next_ = 0;
  std::map<std::uint32_t, Waiting> waiting_;  // by the number of the queue pair here
  std::vector<Early> early_;                  // before their queue pair was ready
  bool watched_ = false;
};

}  // namespace iwarp::compat
