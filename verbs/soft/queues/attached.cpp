#include "soft/queues/attached.hpp"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

namespace iwarp::verbs::soft {
namespace {

// So few are looked at by each poll.
constexpr std::size_t kPollEach = 16;

// How often a thread that waits looks at each socket for which the system has no set left.
constexpr std::chrono::milliseconds kLookAtEach{1};

// How many ready sockets one look names.
constexpr std::size_t kReadyAtOnce = 32;

// An end, or an error, cannot be left out of what is told: where nothing is read it is told once.
tcp_offload::Repeat repeat_of(bool reads) {
  return reads ? tcp_offload::Repeat::kLevel : tcp_offload::Repeat::kEdge;
}

}  // namespace

std::error_code Attached::attach(Driven& driven) {
  const Guard lock(drive_mutex_);
  const auto place = std::lower_bound(driven_.begin(), driven_.end(), &driven, std::less<>());
  if (place != driven_.end() && *place == &driven) return {};  // both of its queues are this one
  driven_.insert(place, &driven);
  count_.store(driven_.size());
  signs_.set_polls_each(driven_.size() <= kPollEach);
  std::error_code refused;
  if (auto* set = sockets_.load()) {
    refused = set->add(driven.descriptor(), token_of(driven), {true, false});
  }
  // From now on a poll looks at ready sockets only: what was left for it leaves here.
  if (driven_.size() == kPollEach + 1) {
    for (Driven* each : driven_) each->flush();
  }
  return refused;
}

void Attached::detach(Driven& driven) {
  const Guard lock(drive_mutex_);
  const auto gone = std::remove(driven_.begin(), driven_.end(), &driven);
  if (gone == driven_.end()) return;
  driven_.erase(gone, driven_.end());
  count_.store(driven_.size());
  signs_.set_polls_each(driven_.size() <= kPollEach);
  forget_descriptor(driven.descriptor());
}

void Attached::forget_descriptor(int descriptor) {
  const Guard lock(lazy_mutex_);  // as below
  if (owner_) owner_->remove(descriptor);
}

void Attached::set_reading(const Driven& driven, bool reads) {
  const Guard lock(lazy_mutex_);  // what is told before the set is made shows in what it is made of
  if (!owner_) return;
  owner_->modify(driven.descriptor(), token_of(driven), {reads, false}, repeat_of(reads));
}

void Attached::drive() {
  if (signs_.polls_each()) {
    drive_each();
  } else {
    wait_and_drive({}, [] { return true; });
  }
}

// An only connection need not be asked for. What is told once, of one that does not read, has to
// be.
void Attached::drive_ready() {
  {
    const Guard lock(drive_mutex_);
    if (driven_.size() == 1 && driven_.front()->waits().input) return driven_.front()->drive();
  }
  wait_and_drive({}, [] { return true; });
}

bool Attached::borrow(SocketService& from) {
  if (count() != 1) return false;
  const Guard lock(drive_mutex_);
  if (driven_.size() != 1 || !has_sockets()) return false;
  return from.lend(*driven_.front());
}

// Or can have. A set that lacks the socket would be of no use, and the engine can do without.
bool Attached::has_sockets() {
  if (sockets_.load() != nullptr) return true;
  try {
    std::vector<Unwatched> unwatched;
    return make_sockets(unwatched, Complete::kMustBe) != nullptr;
  } catch (const std::exception&) {
    return false;
  }
}

void Attached::give_back(SocketService& to) {
  const Guard lock(drive_mutex_);
  for (Driven* each : driven_) to.end_loan(*each);
}

// One thread drives at a time; others find what it completes in the ring.
void Attached::drive_each() {
  if (!drive_mutex_.try_lock()) return;
  const Guard lock(drive_mutex_, std::adopt_lock);
  for (Driven* each : driven_) each->drive();
}

void Attached::flush() {
  if (!signs_.polls_each()) return;
  const Guard lock(drive_mutex_);
  for (Driven* each : driven_) each->flush();
}

std::size_t Attached::wait_and_drive(std::chrono::milliseconds timeout,
                                     const std::function<bool()>& satisfied) {
  auto* const set = sockets_if_any();
  if (set == nullptr) {
    drive_each();
    if (timeout.count() > 0 && !satisfied()) {
      std::this_thread::sleep_for(std::min(timeout, kLookAtEach));
    }
    return 0;
  }
  std::array<tcp_offload::Ready, kReadyAtOnce> ready;
  const std::size_t count = set->wait(ready, timeout);
  const Guard lock(drive_mutex_);
  for (const tcp_offload::Ready& one : std::span(ready).first(count)) {
    if (one.token == kWakeToken) {
      clear_wake();
      continue;
    }
    const auto at = std::lower_bound(
        driven_.begin(), driven_.end(), one.token,
        [](const Driven* each, std::uint64_t token) { return token_of(*each) < token; });
    // What the set reported may have been detached since.
    if (at != driven_.end() && token_of(**at) == one.token) (*at)->drive();
  }
  return count;
}

void Attached::drive_all_ready(const std::function<bool()>& satisfied) {
  std::size_t left = count() / kReadyAtOnce + 1;
  while (!satisfied() && left-- != 0 && wait_and_drive({}, satisfied) == kReadyAtOnce) {
  }
}

void Attached::wake() {
  const Guard lock(lazy_mutex_);
  if (!wake_ || woken_.exchange(true)) return;
  wake_->raise();
}

void Attached::clear_wake() {
  if (!woken_.load()) return;
  const Guard lock(lazy_mutex_);
  wake_->clear();
  woken_.store(false);
}

tcp_offload::ReadinessSet& Attached::sockets() {
  if (auto* made = sockets_.load()) return *made;
  const Guard drive_lock(drive_mutex_);
  std::vector<Unwatched> unwatched;
  auto* const made = make_sockets(unwatched, Complete::kNeedNotBe);
  for (const Unwatched& one : unwatched) one.driven->cannot_be_watched(one.why);
  return *made;
}

// None if the system has no descriptors left for one: each socket is looked at instead.
tcp_offload::ReadinessSet* Attached::sockets_if_any() {
  try {
    return &sockets();
  } catch (const std::exception&) {
    return nullptr;
  }
}

// Those whose sockets are refused are told without this lock.
tcp_offload::ReadinessSet* Attached::make_sockets(std::vector<Unwatched>& unwatched,
                                                  Complete complete) {
  const Guard lock(lazy_mutex_);
  if (owner_) return owner_.get();
  auto made = std::make_unique<tcp_offload::ReadinessSet>(tcp_offload::Repeat::kLevel);
  auto wake = std::make_unique<tcp_offload::EventCount>();
  if (const auto why = made->add(wake->descriptor(), kWakeToken, {true, false})) {
    throw std::system_error(why, "a completion queue cannot watch its sockets");
  }
  for (Driven* each : driven_) {
    const Waits waits = each->waits();
    if (waits.input_ended) continue;
    const auto why = made->add(each->descriptor(), token_of(*each), {waits.input, false},
                               repeat_of(waits.input));
    if (why) unwatched.push_back({each, why});
  }
  if (complete == Complete::kMustBe && !unwatched.empty()) return nullptr;
  wake_ = std::move(wake);
  owner_ = std::move(made);
  sockets_.store(owner_.get());
  return owner_.get();
}

}  // namespace iwarp::verbs::soft
