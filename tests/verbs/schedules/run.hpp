#pragma once

#include <memory>
#include <ostream>

#include "verbs/schedules/schedule.hpp"

namespace iwarp::verbs::simtest::schedules {

/// One schedule while it runs.
class Run {
 public:
  Run(std::uint64_t seed, std::ostream* trace);
  std::vector<std::string> go();

 private:
  Wrap cut();
  void plan_network_fault();
  void act();
  void intrude(Side side);
  void act_for_program(SimEnd& own);
  void disconnect(Side side);
  void hiccup();
  void take_leave();
  void fall_deaf(Side side, std::chrono::nanoseconds time);
  void wake_up();
  void deregister();
  void do_work();
  void part_in_peace();
  void wait_for_end();
  void settle();

  void step();
  void look(Side side);
  void refused(Side side, const PostError& error);
  void post_receives(Side side);
  void post_requests(Side side);
  [[nodiscard]] bool may_post(Side side, const Operation& operation) const;
  [[nodiscard]] bool is_leaving(Side side);
  std::size_t post_batch(Side side, std::size_t count);
  [[nodiscard]] std::size_t wanted_receives(Side side) const;
  [[nodiscard]] bool done(Side side) const;
  [[nodiscard]] bool ended(Side side) const;

  SimEnd& end(Side side) const { return record_.end(side); }
  Progress& progress(Side side) { return record_.progress[static_cast<std::size_t>(side)]; }
  void violated(const std::string& sentence) { record_.violations.push_back(sentence); }
  template <typename... T>
  void tell(const T&... words) {
    if (trace_ == nullptr) return;
    *trace_ << std::chrono::nanoseconds(pair_->network.net.now().time_since_epoch()).count() / 1000
            << " us: ";
    ((*trace_ << words), ...);
    *trace_ << '\n';
  }

  std::ostream* trace_;
  Random random_;
  Setting setting_;
  std::unique_ptr<SimPair> pair_;
  std::unique_ptr<Program> program_;
  Record record_;
  std::uint64_t steps_;
  bool posting_ = false;
  Side deaf_ = Side::kClient;  // the end that wakes up again
  std::chrono::steady_clock::time_point deaf_until_{};
  std::uint32_t naps_ = 0;  // still to come
  std::size_t seen_sent_[2] = {}, seen_received_[2] = {}, seen_events_[2] = {};
};

}  // namespace iwarp::verbs::simtest::schedules
