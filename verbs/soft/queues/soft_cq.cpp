#include "soft/queues/soft_cq.hpp"

#include <utility>

#include "iwarp/provider/async_events.hpp"

namespace iwarp::verbs::soft {
namespace {

// A thread that polls in vain looks after other sockets once in so many polls.
constexpr std::uint32_t kPollsPerLookAround = 8;

// Of polls that find as many as they asked for, so many make a turn of one that finds too few.
constexpr std::uint32_t kFullPollsPerTurn = 8;

// The queue at which this thread is awake inside wait(), or about to sleep: it need not be woken
// for what it completes itself.
thread_local const SoftCq* awake_at = nullptr;
// The queue whose events this thread takes as soon as it has done what it does.
thread_local const SoftCq* takes_events_of = nullptr;

// One of these, for a while.
class AtQueue {
 public:
  AtQueue(const SoftCq*& where, const SoftCq& cq)
      : where_(where), before_(std::exchange(where, &cq)) {}
  AtQueue(const AtQueue&) = delete;
  AtQueue& operator=(const AtQueue&) = delete;
  ~AtQueue() { where_ = before_; }

 private:
  const SoftCq*& where_;
  const SoftCq* before_;
};

}  // namespace

SoftCq::SoftCq(std::shared_ptr<const Services> services, std::uint32_t depth, std::uint32_t number)
    : services_(std::move(services)), number_(number), ring_(depth, signs_) {}

std::uint32_t SoftCq::capacity() const { return origin_.inherited() ? 0 : ring_.capacity(); }

Outcome<void> SoftCq::resize(std::uint32_t depth) {
  const auto refuse = [&](const std::string& why) {
    return fail(std::errc::invalid_argument, "completion queue " + std::to_string(number_) +
                                                 ": cannot be resized to " + std::to_string(depth) +
                                                 ": " + why);
  };
  if (origin_.refuses()) return refused();
  if (depth == 0 || depth > kMaxDepth) return refuse("it is not a depth of this device");
  if (ring_.has_overrun()) return refuse("it has overrun, and takes nothing any more");
  if (!ring_.resize(depth)) return refuse("more completions are waiting");
  return {};
}

bool SoftCq::push(std::span<const Completion> completions, PlaceOwner& places) {
  const auto pushed = ring_.push(completions, places);
  if (pushed.first_overrun) {
    services_->events.report({AsyncEvent::Kind::kCqOverrun, number_,
                              "completion queue " + std::to_string(number_) + " overran its " +
                                  std::to_string(capacity()) + " entries"});
  }
  if (pushed.fires) raise_event();
  if (signs_.sleepers() > (awake_at == this ? 1U : 0U)) attached_.wake();
  return pushed.all;
}

void SoftCq::raise_event() {
  if (takes_events_of == this) {
    events_.raise_unshown();
  } else {
    events_.raise();
  }
}

std::size_t SoftCq::poll(std::span<Completion> into) {
  if (origin_.refuses()) return 0;
  std::size_t taken = ring_.pop(into);
  if (taken == into.size()) {
    // A thread that sleeps may have been woken for what is left, and have found it taken in hand.
    if (signs_.sleepers() != 0 && !ring_.empty()) attached_.wake();
    if (taken > 1) poll_in_full();
    return taken;
  }
  if (leaves_to_engine()) return taken;
  const std::uint32_t polls = signs_.note();
  if (attached_.count() == 0) return taken;
  attached_.drive();
  taken += ring_.pop(into.subspan(taken));
  if (taken == 0 && polls % kPollsPerLookAround == 0) services_->pollers.drive_unpolled();
  return taken;
}

// The program goes on polling, but may find enough for ever: what is left to it has its turn now
// and then.
void SoftCq::poll_in_full() {
  if (signs_.left_to_engine()) return;
  if (signs_.note_full() % kFullPollsPerTurn == 0) attached_.drive();
}

// The engine has the sockets of a queue that is armed, or whose event waits for the program: it
// reads, and what was posted has left. To read here is a system call that finds nothing, as a rule,
// and keeps the engine out meanwhile. Of many connections one system call names those that have
// something, and some mostly do.
bool SoftCq::leaves_to_engine() {
  const bool leaves = signs_.poll_leaves_to_engine();  // counts polls of many connections, too
  return leaves && signs_.polls_each();
}

bool SoftCq::wait(std::chrono::milliseconds timeout) {
  if (origin_.refuses()) return false;
  if (!ring_.empty()) return true;
  const auto deadline = services_->time.now() + timeout;
  const auto satisfied = [this] { return !ring_.empty(); };
  const AtQueue awake(awake_at, *this);
  begin_wait();
  // Nothing comes any more once it has overrun.
  for (bool late = false; ring_.empty() && !late && !ring_.has_overrun();) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - services_->time.now());
    late = left.count() <= 0;
    // A wait that ends has looked at each socket.
    if (late) {
      attached_.drive_all_ready(satisfied);
    } else if (attached_.wait_and_drive(left, satisfied) != 0) {
      signs_.note();  // awake, though it may have been woken for what completes nothing
    }
  }
  end_wait();
  return !ring_.empty();
}

bool SoftCq::begin_wait() {
  if (origin_.refuses()) return false;
  attached_.prepare_to_sleep();
  signs_.begin_sleep();
  const AtQueue awake(awake_at, *this);
  attached_.flush();
  return !ring_.empty();
}

void SoftCq::end_wait() {
  if (origin_.inherited()) return;
  attached_.clear_wake();
  signs_.note();
  if (signs_.end_sleep()) services_->pollers.sleeper_left();
}

bool SoftCq::begin_event_wait() {
  if (origin_.refuses() || !attached_.borrow(services_->sockets)) return false;
  const AtQueue takes(takes_events_of, *this);
  attached_.flush();
  return true;
}

void SoftCq::drive_for_event() {
  if (origin_.refuses()) return;
  const AtQueue takes(takes_events_of, *this);
  attached_.drive_ready();
}

void SoftCq::end_event_wait() {
  if (origin_.inherited()) return;
  attached_.give_back(services_->sockets);
  events_.show();
}

void SoftCq::arm(provider::Arm what) {
  if (origin_.refuses()) return;
  ring_.arm(what);
  services_->pollers.take_back(signs_);
}

// An event that is raised meanwhile may be taken for this one: then polls look at sockets, and the
// engine leaves them to pollers, a little earlier.
bool SoftCq::take_event() {
  if (origin_.refuses() || !events_.take()) return false;
  if (!events_.any()) signs_.event_taken();
  return true;
}

int SoftCq::event_descriptor() { return origin_.refuses() ? -1 : events_.descriptor(); }
int SoftCq::wait_descriptor() { return origin_.refuses() ? -1 : attached_.descriptor(); }

}  // namespace iwarp::verbs::soft
