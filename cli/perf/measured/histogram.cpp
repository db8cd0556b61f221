#include "perf/measured/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace iwarp::cli::perf {
namespace {

// Values below 2^kBits have a bucket each; above, every power of two has 2^(kBits-1) buckets.
constexpr unsigned kBits = 9;
constexpr unsigned kHalf = 1U << (kBits - 1);
constexpr unsigned kLargestBits = 41;  // 2^41 ns is more than half an hour
constexpr std::uint64_t kLargest = (std::uint64_t{1} << kLargestBits) - 1;

std::size_t bucket_of(std::uint64_t value) {
  const auto width = static_cast<unsigned>(std::bit_width(value));
  const unsigned shift = width > kBits ? width - kBits : 0;
  return shift * kHalf + (value >> shift);
}

double middle_of(std::size_t bucket) {
  if (bucket < 2 * kHalf) return static_cast<double>(bucket);
  const std::size_t shift = bucket / kHalf - 1;
  const std::size_t low = (bucket - shift * kHalf) << shift;
  return static_cast<double>(low) + static_cast<double>((std::size_t{1} << shift) - 1) / 2;
}

}  // namespace

Histogram::Histogram() : buckets_(bucket_of(kLargest) + 1) {}

void Histogram::add(std::chrono::nanoseconds duration) {
  const auto nanoseconds = std::max<std::int64_t>(duration.count(), 0);
  const auto value = std::min(static_cast<std::uint64_t>(nanoseconds), kLargest);
  ++buckets_[bucket_of(value)];
  ++count_;
  minimum_ = std::min(minimum_, value);
  maximum_ = std::max(maximum_, value);
  sum_ += static_cast<double>(value);
}

void Histogram::add(const Histogram& other) {
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  minimum_ = std::min(minimum_, other.minimum_);
  maximum_ = std::max(maximum_, other.maximum_);
  sum_ += other.sum_;
}

double Histogram::minimum() const { return count_ == 0 ? 0 : static_cast<double>(minimum_); }

double Histogram::maximum() const { return static_cast<double>(maximum_); }

double Histogram::mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

double Histogram::quantile(double fraction) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(
      std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= std::max<std::uint64_t>(rank, 1)) {
      return std::clamp(middle_of(bucket), minimum(), maximum());
    }
  }
  return maximum();
}

}  // namespace iwarp::cli::perf
