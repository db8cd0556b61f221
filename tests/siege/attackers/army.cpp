#include "army.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

namespace iwarp::siege {
namespace {

// Few wake-ups, so that the attackers take little of the processor that the others work on.
constexpr std::chrono::milliseconds kTick{5};
constexpr double kBurst = 0.02;  // seconds of the rate that can be saved up

}  // namespace

Army::Army(const Orders& orders) : orders_(orders), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  noted_.resize(orders_.attackers);
  for (std::size_t i = 0; i < orders_.attackers; ++i) {
    attackers_.push_back(std::make_unique<Attacker>(orders_, i, epoll_, tally_));
    queue_.push_back(i);
  }
}

Army::~Army() {
  attackers_.clear();
  ::close(epoll_);
}

std::size_t Army::connected() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(attackers_, [](const auto& one) { return !one->away(); }));
}

void Army::turn() {
  std::array<epoll_event, 256> events;
  const int ready = ::epoll_wait(epoll_, events.data(), events.size(), patience());
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    attackers_[event.data.u64]->on_ready(event.events);
    note(event.data.u64);
  }
  const auto now = Clock::now();
  keep_appointments(now);
  let_in(now);
}

int Army::patience() const {
  if (!queue_.empty()) return static_cast<int>(kTick.count());
  return 2 * static_cast<int>(kTick.count());
}

void Army::keep_appointments(Clock::time_point now) {
  while (!appointments_.empty() && appointments_.top().time <= now) {
    const Appointment next = appointments_.top();
    appointments_.pop();
    Attacker& one = *attackers_[next.number];
    if (one.due() != next.time) continue;
    if (one.away()) {
      queue_.push_back(next.number);
    } else {
      one.on_time();
      note(next.number);
    }
  }
}

void Army::let_in(Clock::time_point now) {
  const double passed = std::chrono::duration<double>(now - counted_).count();
  counted_ = now;
  allowance_ = std::min(allowance_ + passed * orders_.rate, std::max(1.0, orders_.rate * kBurst));
  for (; allowance_ >= 1 && !queue_.empty(); --allowance_) {
    const std::size_t number = queue_.front();
    queue_.pop_front();
    attackers_[number]->connect();
    note(number);
  }
}

void Army::note(std::size_t number) {
  const auto due = attackers_[number]->due();
  if (!due || *due == noted_[number]) return;
  noted_[number] = *due;
  appointments_.push({*due, number});
}

}  // namespace iwarp::siege
