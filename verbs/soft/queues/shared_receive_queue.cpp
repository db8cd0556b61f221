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
      places_(options.max_wr) {
  entries_.resize(options.max_wr);
  for (Entry& entry : entries_) {
    entry.sges.reserve(options.max_sge);
    vacant_.push_back(&entry);
  }
}

std::errc SoftSrq::check(const RecvWr& request) const {
  if (request.sges.size() > options_.max_sge) return std::errc::invalid_argument;
  return places_.room() == 0 ? std::errc::not_enough_memory : std::errc{};
}

Result<void, PostError> SoftSrq::post_receive(std::span<const RecvWr> requests) {
  if (origin_.refuses()) return refused_post();
  const Guard lock(lock_);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const RecvWr& request = requests[i];
    if (const std::errc problem = check(request); problem != std::errc{}) {
      return failure(PostError{problem, i});
    }
    places_.take();
    Entry* entry = vacant_.back();
    vacant_.pop_back();
    entry->cookie = request.wr_id;
    entry->sges.clear();
    for (const Sge& sge : request.sges) {
      entry->sges.push_back({reinterpret_cast<std::uintptr_t>(sge.address), sge.length, sge.lkey});
    }
    entry->length = ddp::total_length(entry->sges);
    posted_.push_back(entry);
    replace_oldest();
  }
  return {};
}

void SoftSrq::replace_oldest() {
  if (taken_.empty()) return;
  const auto held = held_.find(taken_.front());
  if (held != held_.end() && --held->second == 0) held_.erase(held);
  taken_.pop_front();
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
    reached = posted_.size() < limit;
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

SoftSrq::Entry* SoftSrq::take(const SharedReceives& taker) {
  Entry* entry = nullptr;
  bool reached = false;
  {
    const Guard lock(lock_);
    if (posted_.empty()) return nullptr;
    if (options_.share != 0) {
      std::uint32_t& held = held_[&taker];
      if (held == options_.share) return nullptr;
      ++held;
      taken_.push_back(&taker);
    }
    entry = posted_.front();
    posted_.pop_front();
    reached = posted_.size() < limit_;
    if (reached) limit_ = 0;
  }
  if (reached) report_limit();
  return entry;
}

void SoftSrq::give_back(Entry* entry) {
  const Guard lock(lock_);
  vacant_.push_back(entry);
}

// The receives it took stay taken until the program posts others, but count for no queue pair.
void SoftSrq::forget(const SharedReceives& taker) {
  const Guard lock(lock_);
  held_.erase(&taker);
  std::erase(taken_, &taker);
}

SharedReceives::~SharedReceives() {
  const bool was_begun = current_ != nullptr;  // a message that never became whole
  give_back();
  if (was_begun) queue_->places().give_back();  // behind its entry, which a post takes then
  if (queue_) queue_->forget(*this);
}

std::optional<rdmap::ReceiveBuffer> SharedReceives::take() {
  give_back();
  if (!queue_) return std::nullopt;
  current_ = queue_->take(*this);
  if (current_ == nullptr) return std::nullopt;
  return rdmap::ReceiveBuffer{current_->cookie, current_->sges, current_->length};
}

void SharedReceives::give_back() {
  if (current_ != nullptr) queue_->give_back(std::exchange(current_, nullptr));
}

}  // namespace iwarp::verbs::soft
