#include "send_queue.hpp"

#include <algorithm>
#include <utility>

namespace iwarp::rnic {
namespace {

using verbs::PostError;
using verbs::SendFlags;
using verbs::SendWr;

}  // namespace

void SendQueue::open() {
  const std::lock_guard lock(mutex_);
  phase_ = PostingPhase::kTaken;
}

void SendQueue::close() {
  const std::lock_guard lock(mutex_);
  if (phase_ == PostingPhase::kTaken) phase_ = PostingPhase::kRefused;
}

std::uint32_t SendQueue::room() const {
  return ring_.room() > kMarker ? ring_.room() - kMarker : 0;
}

// An adapter would not look whether there are such objects.
void SendQueue::check_binds(std::span<const SendWr> requests, Admitted& taken) const {
  if (!init_.limits.windows) return;
  for (std::size_t at = 0; at != taken.count; ++at) {
    if (requests[at].opcode != verbs::Opcode::kBindWindow) continue;
    const BindTargets bind = init_.memory->targets_of(*requests[at].bind);
    if (bind.window != nullptr && bind.region != nullptr) continue;
    taken = {at, PostError{std::errc::invalid_argument, at, verbs::PostField::kBind, 0,
                           "the adapter has no such window, or no such region"}};
    return;
  }
}

bool SendQueue::is_told(const SendWr& request) const {
  return init_.signaling == verbs::Signaling::kAll || has(request.flags, SendFlags::kSignaled);
}

bool SendQueue::is_swallowed(const SendWr& request) const {
  return !is_told(request) && wants_telling(request, init_.limits);
}

void SendQueue::make_room(std::size_t wanted) {
  if (room() < wanted) init_.cq->gather();
}

// One that finds no place is refused as by a full queue.
void SendQueue::reserve_places(std::span<const SendWr> requests, Admitted& taken) {
  const auto swallowed = [this](const SendWr& each) { return is_swallowed(each); };
  const auto list = requests.first(taken.count);
  const auto wanted =
      static_cast<std::uint32_t>(std::count_if(list.begin(), list.end(), swallowed));
  if (wanted == 0) return;
  places_ = init_.cq->reserve(wanted);
  if (places_ == wanted) return;
  init_.cq->gather();
  places_ += init_.cq->reserve(wanted - places_);
  if (places_ == wanted) return;
  std::uint32_t left = places_;
  const auto refused = std::find_if(
      list.begin(), list.end(), [&](const SendWr& each) { return swallowed(each) && left-- == 0; });
  const auto most = static_cast<std::size_t>(refused - list.begin());
  taken = {most, PostError{std::errc::not_enough_memory, most}};
}

Result<void, PostError> SendQueue::post(std::span<const SendWr> requests, verbs::Posting posting) {
  const std::lock_guard lock(mutex_);
  if (phase_ == PostingPhase::kFlushed) return flush(requests);
  if (phase_ == PostingPhase::kRefused) return failure(PostError{std::errc::not_connected, 0});
  Admitted taken = admitted(requests, init_.limits);
  check_binds(requests, taken);
  make_room(taken.count);
  if (const std::size_t most = room(); taken.count > most) {
    taken = {most, PostError{std::errc::not_enough_memory, most}};
  }
  const struct Unused {
    SendQueue& queue;
    ~Unused() {
      if (queue.places_ != 0) queue.init_.cq->give_back(std::exchange(queue.places_, 0));
    }
  } at_the_end{*this};
  reserve_places(requests, taken);
  if (taken.why && posting == verbs::Posting::kAllOrNone) return failure(*taken.why);
  const Given given = give(requests.first(taken.count));
  if (given.error != 0) return failure(PostError{static_cast<std::errc>(given.error), given.count});
  if (taken.why) return failure(*taken.why);
  return {};
}

Result<void, PostError> SendQueue::flush(std::span<const SendWr> requests) {
  for (std::size_t at = 0; at != requests.size(); ++at) {
    if (!init_.cq->flush(requests[at].wr_id, number_)) {
      return failure(PostError{std::errc::not_enough_memory, at});
    }
  }
  return {};
}

SendQueue::Given SendQueue::give(std::span<const SendWr> requests) {
  Given all;
  while (all.count != requests.size() && all.error == 0) {
    batch_.clear();
    std::size_t next = all.count;
    while (next != requests.size() && batch_.has_room(requests[next].sges.size())) {
      add(requests[next++]);
    }
    const Given some = hand_over();
    all.count += some.count;
    all.error = some.error;
  }
  return all;
}

void SendQueue::add(const SendWr& request) {
  const bool told = is_told(request);
  const bool swallowed = is_swallowed(request);
  if (swallowed) --places_;
  const bool signaled = told || swallowed || ++silent_ >= std::max(init_.capacity / 2, 1U);
  if (signaled) silent_ = 0;
  const BindTargets bind = request.opcode == verbs::Opcode::kBindWindow
                               ? init_.memory->targets_of(*request.bind)
                               : BindTargets();
  const Told when = told ? Told::kAlways : Told::kWhenFailed;
  batch_.add(request, ring_.post(request.wr_id, when, signaled, swallowed), bind);
}

SendQueue::Given SendQueue::hand_over() {
  ibv_send_wr* refused = nullptr;
  const int error = errno_of_post(ibv_post_send(init_.qp, batch_.first(), &refused));
  // siw's library names none if all are in its queue, and the kernel has not been told: the end of
  // the connection flushes them.
  if (error == 0 || refused == nullptr) return {batch_.size(), 0};
  const auto taken = static_cast<std::size_t>(refused - batch_.first());
  init_.cq->take_back(ring_, static_cast<std::uint32_t>(batch_.size() - taken));
  return {taken, error};
}

// An RDMA Write of no octets, which names no memory, behind requests of which the adapter does not
// tell: it is done when they are.
bool SendQueue::post_marker() {
  batch_.clear();
  SendWr marker;
  marker.opcode = verbs::Opcode::kWrite;
  batch_.add(marker, ring_.post(0, Told::kNever, true), {});
  return hand_over().error == 0;
}

bool SendQueue::finish() {
  const std::lock_guard lock(mutex_);
  init_.cq->gather();
  if (ring_.outstanding() == 0) return true;
  if (ring_.settled() && !marked_) {
    marked_ = true;
    if (!post_marker()) return true;  // it is in no state to send
  }
  return false;
}

void SendQueue::give_up() {
  const std::lock_guard lock(mutex_);
  phase_ = PostingPhase::kFlushed;
  init_.cq->give_up(ring_, number_);
}

}  // namespace iwarp::rnic
