#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "iwarp/base/deadline.hpp"
#include "iwarp/verbs/provider.hpp"
#include "without_cm/greeting.hpp"

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

  /// A number for a queue pair that may be connected without rdma_cm. 0 if no port is free.
  std::uint32_t take_number();
  /// Starts to connect `qp`, and returns at once. The peer may take its time: nothing ends the wait
  /// but expect(), or forget(). `scope` is the index of the interface behind a link-local GID. 0,
  /// or an errno.
  int meet(const std::shared_ptr<verbs::provider::Qp>& qp, const Greeting& ends, unsigned scope,
           verbs::ConnectOptions options);
  /// The queue pair, which meets its peer or has met it, has something to send: if the peer does
  /// not come within `patience`, it fails.
  void expect(const std::shared_ptr<verbs::provider::Qp>& qp, std::chrono::nanoseconds patience);
  /// Forgets a queue pair that goes.
  void forget(const verbs::provider::Qp& qp);

 private:
  struct Waiting {
    std::shared_ptr<verbs::provider::Qp> qp;
    QpIdentity peer;
    verbs::ConnectOptions options;
  };
  struct Early {
    Greeting greeting;
    std::unique_ptr<verbs::provider::IncomingConnection> request;
  };
  struct Expecting {
    std::weak_ptr<verbs::provider::Qp> qp;
    Deadline patience;
  };

  bool listen();
  static int take(verbs::provider::IncomingConnection& request,
                  const std::shared_ptr<verbs::provider::Qp>& qp,
                  const verbs::ConnectOptions& options);
  void arrive(std::unique_ptr<verbs::provider::IncomingConnection> request);
  std::unique_ptr<verbs::provider::IncomingConnection> take_early(const Greeting& ends);
  std::unique_ptr<verbs::provider::IncomingConnection> keep_early(Early early);
  void watch();

  std::mutex mutex_;
  std::shared_ptr<verbs::provider::Provider> provider_;
  std::shared_ptr<verbs::provider::Listener> listener_;
  std::uint32_t slot_ = 0, next_ = 0;
  // By the number of the queue pair here.
  std::map<std::uint32_t, Waiting> waiting_;
  std::map<std::uint32_t, std::vector<Early>> early_;  // before their queue pair was ready
  std::map<std::uint32_t, Expecting> expecting_;
  bool watched_ = false;
};

}  // namespace iwarp::compat
