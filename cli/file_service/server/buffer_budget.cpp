#include "file_service/server/buffer_budget.hpp"

#include <utility>

#include "file_service/wire/limits.hpp"

namespace iwarp::cli::file_service {

BufferBudget::Lease::Lease(BufferBudget& budget, Standing standing, LentHandler on_lent)
    : budget_(budget), on_lent_(std::move(on_lent)) {
  const std::scoped_lock lock(budget_.mutex_);
  const bool free = budget_.line_.empty() && budget_.lent_ < budget_.total_;
  if (free || standing == Standing::kKnown) {
    budget_.lend_first(*this);
  } else {
    budget_.line_.push_back(this);
  }
}

BufferBudget::Lease::~Lease() {
  const std::scoped_lock lock(budget_.mutex_);
  if (count_ == 0) std::erase(budget_.line_, this);
  budget_.lent_ -= count_;
  budget_.serve_line();
}

void BufferBudget::Lease::grow() {
  const std::scoped_lock lock(budget_.mutex_);
  const std::size_t others = budget_.lent_ - count_;
  if (!budget_.line_.empty() || others >= budget_.total_) return;
  if (count_ + 1 > (budget_.total_ - others) / 4) return;
  ++budget_.lent_;
  ++count_;
}

BufferBudget::Lack BufferBudget::lack() const {
  const std::scoped_lock lock(mutex_);
  return {.overdrawn = lent_ > total_, .in_line = line_.size()};
}

void BufferBudget::lend_beyond(Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  if (line_.empty() || now - line_.front()->since_ < patience_) return;
  if (now - lent_beyond_ < kLendsBeyond) return;
  lent_beyond_ = now;
  lend_to_first_in_line();
}

void BufferBudget::lend_first(Lease& lease) {
  ++lent_;
  lease.count_ = 1;
}

void BufferBudget::lend_to_first_in_line() noexcept {
  Lease& first = *line_.front();
  line_.pop_front();
  lend_first(first);
  first.on_lent_();
}

void BufferBudget::serve_line() noexcept {
  while (!line_.empty() && lent_ < total_) lend_to_first_in_line();
}

}  // namespace iwarp::cli::file_service
