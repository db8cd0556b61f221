#include "soft/queues/shared_receive_queue.hpp"

#include <mutex>
#include <utility>

#include "iwarp/provider/async_events.hpp"

namespace iwarp::verbs::soft {

SoftSrq::SoftSrq(std::shared_ptr<const Services> services, std::shared_ptr<SoftPd> pd,
                 const provider::SrqOptions& options, std::uint32_t number)
    : services_(std::move(services)),
      pd_(std::move(pd)),
      options_(options),
      number_(number),
      places_(options.max_wr),
      entries_(options.max_wr),
      posted_(options.max_wr) {
  if (options.share != 0) shares_.emplace(options.share, options.max_wr);
  vacant_.reserve(options.max_wr);
  for (Entry& entry : entries_) {
    entry.sges.reserve(options.max_sge);
    vacant_.push_back(&entry);
  }
}

std::optional<PostError> SoftSrq::check(const RecvWr& request, std::size_t index) const {
  if (request.sges.size() > options_.max_sge) {
    return PostError{std::errc::invalid_argument, index, PostField::kSges, 0,
                     "more elements than SrqOptions::max_sge"};
  }
  if (places_.room() == 0) return PostError{std::errc::not_enough_memory, index};
  return std::nullopt;
}

Result<void, PostError> SoftSrq::post_receive(std::span<const RecvWr> requests) {
  if (origin_.refuses()) return refused_post();
  const Guard lock(lock_);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const RecvWr& request = requests[i];
    if (const auto wrong = check(request, i)) return failure(*wrong);
    places_.take();
    Entry* entry = vacant_.back();
    vacant_.pop_back();
    entry->cookie = request.wr_id;
    entry->sges.clear();
    for (const Sge& sge : request.sges) {
      entry->sges.push_back({reinterpret_cast<std::uintptr_t>(sge.address), sge.length, sge.lkey});
    }
    entry->length = ddp::total_length(entry->sges);
    posted_[end_++] = entry;
    if (shares_) shares_->replace(entry->cookie);
  }
  return {};
}

Outcome<void> SoftSrq::arm_limit(std::uint32_t limit) {
  if (origin_.refuses()) return refused();
  if (limit > options_.max_wr) {
    return fail(std::errc::invalid_argument, "shared receive queue " + std::to_string(number_) +
                                                 ": a limit of " + std::to_string(limit) +
                                                 " is above its " +
                                                 std::to_string(options_.max_wr) + " receives");
  }
  bool reached = false;
  {
    const Guard lock(lock_);
    reached = count() < limit;
    limit_ = reached ? 0 : limit;
  }
  if (reached) report_limit();
  return {};
}

std::uint32_t SoftSrq::limit() const {
  const Guard lock(lock_);
  return limit_;
}

void SoftSrq::report_limit() {
  services_->events.report(
      {AsyncEvent::Kind::kSrqLimitReached, number_,
       "shared receive queue " + std::to_string(number_) + " is below its limit"});
}

SoftSrq::Entry* SoftSrq::take(Shares::Taker& taker) {
  Entry* entry = nullptr;
  bool reached = false;
  {
    const Guard lock(lock_);
    if (count() == 0) return nullptr;
    entry = posted_[begin_];
    if (shares_ && !shares_->take(taker, entry->cookie)) return nullptr;
    ++begin_;
    reached = count() < limit_;
    if (reached) limit_ = 0;
  }
  if (reached) report_limit();
  return entry;
}

void SoftSrq::vacate(Entry* entry) {
  const Guard lock(lock_);
  vacant_.push_back(entry);
}

// A thread that finds room posts, and that replaces what is released here.
void SoftSrq::give_back_places(Shares::Taker& taker, std::uint32_t count) {
  {
    const Guard lock(lock_);
    shares_->release(taker, count);
  }
  places_.give_back(count);
}

void SoftSrq::forget(Shares::Taker& taker) {
  const Guard lock(lock_);
  if (shares_) shares_->forget(taker);
}

SharedReceives::~SharedReceives() {
  if (!queue_) return;
  const bool was_begun = current_ != nullptr;  // a message that never became whole
  vacate();
  if (was_begun) places().give_back(1);  // behind its entry, which a post takes then
  queue_->forget(taker_);
}

std::optional<rdmap::ReceiveBuffer> SharedReceives::take() {
  vacate();
  if (!queue_) return std::nullopt;
  current_ = queue_->take(taker_);
  if (current_ == nullptr) return std::nullopt;
  return rdmap::ReceiveBuffer{current_->cookie, current_->sges, current_->length};
}

void SharedReceives::vacate() {
  if (current_ != nullptr) queue_->vacate(std::exchange(current_, nullptr));
}

// Where nobody asks whose they are, a poll gives back many at once, of whichever queue pairs.
PlaceOwner& SharedReceives::places() {
  if (queue_->options_.share == 0) return queue_->places_;
  return *this;
}

void SharedReceives::give_back(std::uint32_t count) { queue_->give_back_places(taker_, count); }

}  // namespace iwarp::verbs::soft
