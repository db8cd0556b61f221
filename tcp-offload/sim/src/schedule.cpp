#include "schedule.hpp"

#include <algorithm>
#include <utility>

namespace iwarp::tcp_offload::sim {

Schedule::Id Schedule::at(TimePoint when, Handler<> task) {
  const Id id{std::max(when, now_), ++order_};
  if (!closed_) tasks_.emplace(id, std::move(task));
  return id;
}

Schedule::Id Schedule::after(Nanoseconds delay, Handler<> task) {
  return at(now_ + std::chrono::duration_cast<TimePoint::duration>(delay), std::move(task));
}

void Schedule::cancel(const Id& id) { tasks_.erase(id); }

bool Schedule::run_next() {
  if (tasks_.empty()) return false;
  auto node = tasks_.extract(tasks_.begin());
  now_ = node.key().when;
  note(Happening::kStep, 0);
  node.mapped()();
  return true;
}

std::optional<TimePoint> Schedule::next() const {
  if (tasks_.empty()) return std::nullopt;
  return tasks_.begin()->first.when;
}

void Schedule::close() {
  closed_ = true;
  // Destroying a task may destroy what a program had captured, which may cancel further tasks.
  while (!tasks_.empty()) {
    const auto last = tasks_.extract(tasks_.begin());
  }
}

void Schedule::note(Happening what, std::uint64_t value) {
  const auto time = static_cast<std::uint64_t>(now_.time_since_epoch().count());
  digest_ = Random::mix(digest_ ^ Random::mix(time ^ Random::mix(value)) ^
                        static_cast<std::uint64_t>(what));
}

}  // namespace iwarp::tcp_offload::sim
