#include "soft/queues/shares.hpp"

#include <algorithm>
#include <bit>

namespace iwarp::verbs::soft {
namespace {

// As many as there can be receives, but two: a shift by the width of a number is not defined.
std::uint32_t bucket_count(std::uint32_t most) { return std::bit_ceil(std::max(most, 2U)); }

}  // namespace

Shares::Shares(std::uint32_t share, std::uint32_t most)
    : share_(share), taken_(most), counting_(most), orphaned_(most) {
  for (Taken& taken : taken_) unused_.push_back(taken);
}

bool Shares::take(Taker& taker, std::uint64_t wr_id) {
  if (taker.count_ == share_) return false;
  ++taker.count_;
  Taken& taken = *unused_.front();
  taken.ListLink<ByTaker>::leave();
  taken.wr_id = wr_id;
  taken.taker = &taker;
  taker.unpolled_.push_back(taken);
  return true;
}

void Shares::release(Taker& taker, std::uint32_t count) {
  for (; count != 0; --count) {
    Taken& taken = *taker.unpolled_.front();
    taken.ListLink<ByTaker>::leave();
    taker.polled_.push_back(taken);
    counting_.add(taken);
  }
}

void Shares::replace(std::uint64_t wr_id) {
  Taken* const taken = replaced_by(wr_id);
  if (taken == nullptr) return;  // there is one more
  Returnable::remove(*taken);
  if (taken->taker != nullptr) --taken->taker->count_;
  taken->ListLink<ByTaker>::leave();
  unused_.push_front(*taken);
}

Shares::Taken* Shares::replaced_by(std::uint64_t wr_id) {
  if (Taken* const taken = counting_.first(wr_id)) return taken;
  if (Taken* const taken = orphaned_.first(wr_id)) return taken;
  if (Taken* const taken = counting_.first()) return taken;
  return orphaned_.first();
}

void Shares::forget(Taker& taker) {
  while (!taker.unpolled_.empty()) release(taker, 1);
  while (Taken* const taken = taker.polled_.front()) {
    taken->ListLink<ByTaker>::leave();
    taken->taker = nullptr;
    Returnable::remove(*taken);
    orphaned_.add(*taken);
  }
}

// ---- Those that can be posted anew ----

Shares::Returnable::Returnable(std::uint32_t most)
    : buckets_(bucket_count(most)), shift_(std::countl_zero(bucket_count(most)) + 33) {}

void Shares::Returnable::add(Taken& taken) {
  all_.push_back(taken);
  bucket_of(taken.wr_id).push_back(taken);
}

void Shares::Returnable::remove(Taken& taken) {
  taken.ListLink<ByAge>::leave();
  taken.ListLink<ByWrId>::leave();
}

// Equal ones are in one bucket, the first of them in front of the others. In front of that one are
// those of other wr_ids that fell into the same bucket: on the average less than one.
Shares::Taken* Shares::Returnable::first(std::uint64_t wr_id) {
  return bucket_of(wr_id).find([wr_id](const Taken& taken) { return taken.wr_id == wr_id; });
}

// Programs use addresses and small numbers: the product's high bits depend on all of theirs.
Shares::Returnable::Bucket& Shares::Returnable::bucket_of(std::uint64_t wr_id) {
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;
  return buckets_[(wr_id * kGoldenRatio) >> static_cast<unsigned>(shift_)];
}

}  // namespace iwarp::verbs::soft
