#pragma once

// An event loop around a completion queue: poll(2) over its descriptor, one for what other threads
// ask of the loop, and one for Ctrl-C.
#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <iwarp/verbs/verbs.hpp>
#include <map>
#include <mutex>
#include <system_error>
#include <vector>

#include "verbs_program.hpp"

namespace examples {

class event_loop {
 public:
  using handler = std::function<void(const iwarp::verbs::Completion&)>;

  explicit event_loop(iwarp::verbs::Device& device) : queue_(must(device.create_cq(4096))) {}
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  [[nodiscard]] iwarp::verbs::CompletionQueue& queue() { return queue_; }
  // What is called with the completions of a queue pair; nothing any more after remove().
  void add(std::uint32_t qp_number, handler told) { handlers_[qp_number] = std::move(told); }
  void remove(std::uint32_t qp_number) { handlers_.erase(qp_number); }

  // Has the loop do something. From any thread: the device's own tell of connections that way.
  void post(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    eventfd_write(wake_.get(), 1);
  }
  void stop() { running_ = false; }

  void run() {
    queue_.arm();  // an event at the next completion
    while (running_) {
      // What came before the queue was armed raises no event, so look until there is nothing.
      if (take_completions()) continue;
      std::array<pollfd, 3> ready{{{queue_.event_descriptor(), POLLIN, 0},
                                   {wake_.get(), POLLIN, 0},
                                   {signal_.get(), POLLIN, 0}}};
      if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "poll");
      if (ready[0].revents != 0 && queue_.take_event()) queue_.arm();
      if (ready[1].revents != 0) run_tasks();
      if (ready[2].revents != 0) stop();
    }
  }

 private:
  bool take_completions() {
    std::array<iwarp::verbs::Completion, 32> done;
    const std::size_t count = queue_.poll(done);
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = handlers_.find(done[i].qp_number);
      if (at == handlers_.end()) continue;
      const handler told = at->second;  // a copy: it may remove itself
      told(done[i]);
    }
    return count != 0;
  }

  void run_tasks() {
    eventfd_t times = 0;
    eventfd_read(wake_.get(), &times);
    std::vector<std::function<void()>> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
    }
    for (const auto& task : tasks) task();
  }

  iwarp::verbs::CompletionQueue queue_;
  std::map<std::uint32_t, handler> handlers_;
  const descriptor wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  const descriptor signal_{interrupt_descriptor()};
  bool running_ = true;
  std::mutex mutex_;  // what follows
  std::vector<std::function<void()>> tasks_;
};

}  // namespace examples
