#pragma once

#include <deque>
#include <utility>

#include "iwarp/tcp_offload/handler.hpp"
#include "schedule.hpp"

namespace iwarp::tcp_offload::sim {

/// The program on one host: what its device calls goes through here, so that it can be stopped
/// while the network goes on.
class Program {
 public:
  /// What a call comes from.
  enum class Source { kTimer, kOther };

  /// Calls `task` now, or when the program goes on.
  void call(Source source, Handler<> task) {
    if (!stopped_) return task();
    (source == Source::kTimer ? timers_ : others_).push_back(std::move(task));
  }

  void stop() { stopped_ = true; }
  /// Timers come first: nothing promises that a program hears of its connections before.
  void go_on(Schedule& schedule) {
    stopped_ = false;
    for (auto* held : {&timers_, &others_}) {
      for (Handler<>& task : *held) schedule.soon(std::move(task));
      held->clear();
    }
  }

 private:
  bool stopped_ = false;
  std::deque<Handler<>> timers_, others_;
};

}  // namespace iwarp::tcp_offload::sim
