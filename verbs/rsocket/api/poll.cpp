#include "api/poll.hpp"

#include <cerrno>
#include <vector>

#include "api/table.hpp"
#include "wire/options.hpp"

namespace iwarp::rsocket {

namespace {

/// One call of poll_all: its entries, with the rsockets among them.
class PollCall {
 public:
  PollCall(std::span<pollfd> fds, const sigset_t* mask) : fds_(fds), mask_(mask) {
    for (const pollfd& each : fds) {
      sockets_.push_back(Table::instance().find(each.fd));
      any_socket_ = any_socket_ || sockets_.back();
    }
  }

  [[nodiscard]] bool any_socket() const { return any_socket_; }

  /// Fills in the revents of rsockets, and counts those that have some.
  int ask_sockets() {
    int count = 0;
    for (std::size_t each = 0; each < fds_.size(); ++each) {
      if (!sockets_[each]) continue;
      fds_[each].revents = sockets_[each]->poll(fds_[each].events);
      if (fds_[each].revents != 0) ++count;
    }
    return count;
  }

  /// Fills in the others' revents, and counts likewise. Negative errno.
  int ask_others() { return poll_others(Clock::now()); }

  /// Without rsockets it is the system's call.
  int poll_others(const Deadline& deadline) {
    std::vector<pollfd> others = entries();
    for (std::size_t each = 0; each < fds_.size(); ++each) {
      if (sockets_[each]) others[each].fd = -1;
    }
    const Waiter& waiter = Waiter::of_this_thread();
    others.push_back({.fd = -1, .events = 0, .revents = 0});
    if (const int error = waiter.sleep(others, deadline, mask_); error != 0) return -error;
    return take_others(others);
  }

  /// Sleeps until there may be something. Returns 0 or an errno.
  int sleep(const Deadline& deadline) {
    Waiter& waiter = Waiter::of_this_thread();
    std::size_t waiting = 0;
    int error = 0;
    if (start_waiting(waiter, waiting)) {
      std::vector<pollfd> all = entries();
      all.push_back(waiter.entry());
      error = waiter.sleep(all, deadline, mask_);
    }
    for (std::size_t each = 0; each < waiting; ++each) {
      if (sockets_[each]) sockets_[each]->stop_waiting(waiter);
    }
    return error;
  }

 private:
  /// What the system can wait for in place of the rsockets.
  [[nodiscard]] std::vector<pollfd> entries() const {
    std::vector<pollfd> all(fds_.begin(), fds_.end());
    for (std::size_t each = 0; each < all.size(); ++each) {
      all[each].revents = 0;
      if (sockets_[each]) all[each] = sockets_[each]->entry();
    }
    return all;
  }

  int take_others(std::span<const pollfd> others) {
    int count = 0;
    for (std::size_t each = 0; each < fds_.size(); ++each) {
      if (sockets_[each]) continue;
      fds_[each].revents = others[each].revents;
      if (fds_[each].revents != 0) ++count;
    }
    return count;
  }

  /// False if a socket has something to say already. `reached`: those before it wait.
  bool start_waiting(Waiter& waiter, std::size_t& reached) {
    for (; reached < fds_.size(); ++reached) {
      const Socket::Handle& socket = sockets_[reached];
      if (socket && !socket->start_waiting(waiter, fds_[reached].events)) return false;
    }
    return true;
  }

  std::span<pollfd> fds_;
  const sigset_t* mask_;
  std::vector<Socket::Handle> sockets_;
  bool any_socket_ = false;
};

}  // namespace

int poll_all(std::span<pollfd> fds, const Deadline& deadline, const sigset_t* mask) {
  PollCall call(fds, mask);
  if (!call.any_socket()) return call.poll_others(deadline);
  const auto polls_until = Clock::now() + Options::defaults().polling_time;
  while (true) {
    const int sockets = call.ask_sockets();
    // Others cost a system call: only when the answer, or a sleep, is due.
    const bool spinning = sockets == 0 && !passed(deadline) && Clock::now() < polls_until;
    if (spinning) continue;
    const int others = call.ask_others();
    if (others < 0) return others;
    if (sockets + others > 0 || passed(deadline)) return sockets + others;
    if (const int error = call.sleep(deadline); error != 0) return -error;
  }
}

}  // namespace iwarp::rsocket
