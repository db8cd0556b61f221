#include "soft/soft_cq.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <thread>
#include <utility>

#include "soft/socket_token.hpp"
#include "soft/soft_qp.hpp"

namespace iwarp::verbs::soft {
namespace {

// A thread that polls in vain looks after other sockets once in so many polls.
constexpr std::uint32_t kPollsPerHelp = 8;

// How often a thread that waits looks at each socket for which the system has no set left.
constexpr std::chrono::milliseconds kLookAtEach{1};

// How many ready sockets one look names.
constexpr std::size_t kReadyAtOnce = 32;

// The queue at which this thread is awake inside wait(), or about to sleep: it need not be woken
// for what it completes itself.
thread_local const SoftCq* awake_at = nullptr;

class StayAwake {
 public:
  explicit StayAwake(const SoftCq& cq) : before_(std::exchange(awake_at, &cq)) {}
  StayAwake(const StayAwake&) = delete;
  StayAwake& operator=(const StayAwake&) = delete;
  ~StayAwake() { awake_at = before_; }

 private:
  const SoftCq* before_;
};

}  // namespace

SoftCq::SoftCq(std::shared_ptr<Host> host, std::uint32_t depth, std::uint32_t number)
    : host_(std::move(host)), number_(number), ring_(depth) {}

std::uint32_t SoftCq::capacity() const {
  if (origin_.inherited()) return 0;
  const std::lock_guard lock(ring_lock_);
  return static_cast<std::uint32_t>(ring_.size());
}

Outcome<void> SoftCq::resize(std::uint32_t depth) {
  const auto refuse = [&](const std::string& why) {
    return fail(std::errc::invalid_argument, "completion queue " + std::to_string(number_) +
                                                 ": cannot be resized to " + std::to_string(depth) +
                                                 ": " + why);
  };
  if (origin_.refuses()) return refused();
  if (depth == 0 || depth > kMaxDepth) return refuse("it is not a depth of this device");
  if (overrun_.load()) return refuse("it has overrun, and takes nothing any more");
  std::vector<Entry> ring(depth);
  {
    const std::lock_guard lock(ring_lock_);
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    if (count <= depth) {
      for (std::uint32_t i = 0; i < count; ++i) ring[i] = ring_[(head_ + i) % ring_.size()];
      ring_.swap(ring);
      head_ = 0;
      return {};
    }
  }
  return refuse("more completions are waiting");
}

bool SoftCq::fires(const Completion& completion) {
  const Armed armed = armed_.load();
  if (armed == Armed::kNo) return false;
  const bool solicited =
      completion.status != Status::kSuccess || has(completion.flags, CompletionFlags::kSolicited);
  if (armed == Armed::kSolicited && !solicited) return false;
  armed_.store(Armed::kNo);
  return true;
}

bool SoftCq::push(const Completion& completion, Places& places) {
  bool fire = false;
  bool taken = true;
  bool first_overrun = false;
  {
    const std::lock_guard lock(ring_lock_);
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    if (count == ring_.size() || overrun_.load()) {
      first_overrun = !overrun_.exchange(true);
      taken = false;
    } else {
      ring_[(head_ + count) % ring_.size()] = {completion, &places};
      count_.store(count + 1U);
      fire = fires(completion);
    }
  }
  if (!taken) places.give_back();
  if (first_overrun) {
    host_->report({AsyncEvent::Kind::kCqOverrun, number_,
                   "completion queue " + std::to_string(number_) + " overran its " +
                       std::to_string(capacity()) + " entries"});
  }
  if (fire) raise_event();
  if (waiters_.load() > (awake_at == this ? 1U : 0U)) wake_waiter();
  return taken;
}

void SoftCq::wake_waiter() {
  const std::lock_guard lock(lazy_mutex_);
  if (!wake_ || woken_.exchange(true)) return;
  wake_->raise();
}

// Before the caller looks for completions: whoever makes one from now on raises it anew.
void SoftCq::clear_wake() {
  if (!woken_.load()) return;
  const std::lock_guard lock(lazy_mutex_);
  wake_->clear();
  woken_.store(false);
}

std::size_t SoftCq::pop(std::span<Completion> into) {
  if (empty()) return 0;
  const std::lock_guard lock(ring_lock_);
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  const auto taken = static_cast<std::uint32_t>(std::min<std::size_t>(count, into.size()));
  for (std::uint32_t i = 0; i < taken; ++i) {
    into[i] = ring_[head_].completion;
    ring_[head_].places->give_back();
    if (++head_ == ring_.size()) head_ = 0;
  }
  count_.store(count - taken);
  return taken;
}

void SoftCq::discard(std::uint32_t qp_number) {
  const std::lock_guard lock(ring_lock_);
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Entry& entry = ring_[(head_ + i) % ring_.size()];
    if (entry.completion.qp_number == qp_number) {
      entry.places->give_back();
    } else {
      ring_[(head_ + kept++) % ring_.size()] = entry;
    }
  }
  count_.store(kept);
}

std::size_t SoftCq::poll(std::span<Completion> into) {
  if (origin_.refuses()) return 0;
  std::size_t taken = pop(into);
  if (taken == into.size()) {
    // One that sleeps may have been woken for what is left, and have found it taken in hand.
    if (waiters_.load() != 0 && !empty()) wake_waiter();
    return taken;
  }
  const std::uint32_t polls = sign_.fetch_add(1);
  if (attached_count_.load() == 0) return taken;
  drive();
  taken += pop(into.subspan(taken));
  if (taken == 0 && polls % kPollsPerHelp == 0) host_->help();
  return taken;
}

void SoftCq::drive() {
  if (polls_all()) {
    drive_each();
  } else {
    drive_ready({});
  }
}

// One thread drives at a time; others find what it completes in the ring.
void SoftCq::drive_each() {
  const std::unique_lock lock(drive_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (SoftQp* qp : attached_) qp->drive();
}

// Returns how many of the set were ready: what it is told at once, or fewer.
std::size_t SoftCq::drive_ready(std::chrono::milliseconds timeout) {
  auto* const set = sockets_if_any();
  if (set == nullptr) {
    drive_each();
    if (timeout.count() > 0 && empty()) std::this_thread::sleep_for(std::min(timeout, kLookAtEach));
    return 0;
  }
  std::array<tcp_offload::Ready, kReadyAtOnce> ready;
  const std::size_t count = set->wait(ready, timeout);
  const std::lock_guard lock(drive_mutex_);
  for (const tcp_offload::Ready& one : std::span(ready).first(count)) {
    if (one.token == kWakeToken) {
      clear_wake();
      continue;
    }
    const auto at = std::lower_bound(
        attached_.begin(), attached_.end(), one.token,
        [](const SoftQp* qp, std::uint64_t token) { return token_of(*qp) < token; });
    // What the set reported may have been detached since.
    if (at != attached_.end() && token_of(**at) == one.token) (*at)->drive();
  }
  return count;
}

// A wait that ends has looked at each socket: those that have been told of go behind the others.
void SoftCq::drive_all_ready() {
  std::size_t left = attached_count_.load() / kReadyAtOnce + 1;
  while (empty() && left-- != 0 && drive_ready(std::chrono::milliseconds(0)) == kReadyAtOnce) {
  }
}

bool SoftCq::wait(std::chrono::milliseconds timeout) {
  if (origin_.refuses()) return false;
  if (!empty()) return true;
  const auto deadline = host_->now() + timeout;
  const StayAwake awake(*this);
  begin_wait();
  // Nothing comes any more once it has overrun.
  for (bool late = false; empty() && !late && !overrun_.load();) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - host_->now());
    late = left.count() <= 0;
    if (late) {
      drive_all_ready();
    } else if (drive_ready(left) != 0) {
      sign_.fetch_add(1);  // awake, though it may have been woken for what completes nothing
    }
  }
  end_wait();
  return !empty();
}

bool SoftCq::begin_wait() {
  if (origin_.refuses()) return false;
  sockets_if_any();  // made before waiters_ says that somebody may sleep on them
  waiters_.fetch_add(1);
  const StayAwake awake(*this);
  flush();
  return !empty();
}

void SoftCq::end_wait() {
  if (origin_.inherited()) return;
  clear_wake();
  sign_.fetch_add(1);
  if (waiters_.fetch_sub(1) == 1) host_->waiter_left();
}

// Sends what was left for the poller: it is about to sleep. Nothing is left where there are many.
void SoftCq::flush() {
  if (!polls_all()) return;
  const std::lock_guard lock(drive_mutex_);
  for (SoftQp* qp : attached_) qp->flush();
}

void SoftCq::arm(provider::Arm what) {
  if (origin_.refuses()) return;
  const Armed wanted = what == provider::Arm::kAny ? Armed::kAny : Armed::kSolicited;
  {
    const std::lock_guard lock(ring_lock_);
    // Arming for any is the stronger of the two.
    if (armed_.load() != Armed::kAny) armed_.store(wanted);
  }
  host_->stop_lease(*this);
}

// Arming takes no descriptor, so that it cannot fail: what happens before the program asks for one
// is counted.
void SoftCq::raise_event() {
  if (auto* made = events_.load()) return made->raise();
  const std::lock_guard lock(lazy_mutex_);
  if (events_owner_) return events_owner_->raise();
  ++events_before_;
}

bool SoftCq::take_event() {
  if (origin_.refuses()) return false;
  if (auto* made = events_.load()) return made->take();
  const std::lock_guard lock(lazy_mutex_);
  if (events_owner_) return events_owner_->take();
  return events_before_ != 0 && events_before_-- != 0;
}

int SoftCq::event_descriptor() { return origin_.refuses() ? -1 : events().descriptor(); }
int SoftCq::wait_descriptor() { return origin_.refuses() ? -1 : sockets().descriptor(); }

tcp_offload::EventCount& SoftCq::events() {
  if (auto* made = events_.load()) return *made;
  const std::lock_guard lock(lazy_mutex_);
  if (!events_owner_) {
    events_owner_ = std::make_unique<tcp_offload::EventCount>();
    if (events_before_ != 0) events_owner_->raise(std::exchange(events_before_, 0));
  }
  events_.store(events_owner_.get());
  return *events_owner_;
}

// Whose socket the system refuses to watch.
struct SoftCq::Unwatched {
  SoftQp* qp;
  std::error_code why;
};

tcp_offload::ReadinessSet& SoftCq::sockets() {
  if (auto* made = sockets_.load()) return *made;
  const std::lock_guard drive_lock(drive_mutex_);
  std::vector<Unwatched> unwatched;
  auto& made = make_sockets(unwatched);
  for (const Unwatched& one : unwatched) one.qp->cannot_be_watched(one.why);
  return made;
}

// None if the system has no descriptors left for one: each socket is looked at instead.
tcp_offload::ReadinessSet* SoftCq::sockets_if_any() {
  try {
    return &sockets();
  } catch (const std::exception&) {
    return nullptr;
  }
}

// Those are told without this lock.
tcp_offload::ReadinessSet& SoftCq::make_sockets(std::vector<Unwatched>& unwatched) {
  const std::lock_guard lock(lazy_mutex_);
  if (sockets_owner_) return *sockets_owner_;
  auto made = std::make_unique<tcp_offload::ReadinessSet>(tcp_offload::Repeat::kLevel);
  auto wake = std::make_unique<tcp_offload::EventCount>();
  if (const auto why = made->add(wake->descriptor(), kWakeToken, {true, false})) {
    throw std::system_error(why, "a completion queue cannot watch its sockets");
  }
  for (SoftQp* qp : attached_) {
    if (qp->input_ended()) continue;
    const auto why = made->add(qp->descriptor(), token_of(*qp), {qp->reads(), false});
    if (why) unwatched.push_back({qp, why});
  }
  wake_ = std::move(wake);
  sockets_owner_ = std::move(made);
  sockets_.store(sockets_owner_.get());
  return *sockets_owner_;
}

std::error_code SoftCq::attach(SoftQp& qp) {
  const std::lock_guard lock(drive_mutex_);
  const auto place = std::lower_bound(attached_.begin(), attached_.end(), &qp, std::less<>());
  if (place != attached_.end() && *place == &qp) return {};  // both of its queues are this one
  attached_.insert(place, &qp);
  attached_count_.store(attached_.size());
  std::error_code refused;
  if (auto* set = sockets_.load()) {
    refused = set->add(qp.descriptor(), token_of(qp), {true, false});
  }
  // From now on a poll looks at ready sockets only: what was left for it leaves here.
  if (attached_.size() == kPollAll + 1) {
    for (SoftQp* each : attached_) each->flush();
  }
  return refused;
}

void SoftCq::detach(SoftQp& qp) {
  const std::lock_guard lock(drive_mutex_);
  const auto gone = std::remove(attached_.begin(), attached_.end(), &qp);
  if (gone == attached_.end()) return;
  attached_.erase(gone, attached_.end());
  attached_count_.store(attached_.size());
  forget_descriptor(qp.descriptor());
}

void SoftCq::forget_descriptor(int descriptor) {
  if (auto* set = sockets_.load()) set->remove(descriptor);
}

void SoftCq::set_reading(const SoftQp& qp, bool reads) {
  if (auto* set = sockets_.load()) set->modify(qp.descriptor(), token_of(qp), {reads, false});
}

}  // namespace iwarp::verbs::soft
