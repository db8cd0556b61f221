#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace iwarp::cli::perf {

/// Counts of durations in buckets of 1/256 of their value at most; all room is allocated at
/// construction. Minimum, maximum and mean are exact. Not thread-safe.
class Histogram {
 public:
  Histogram();

  /// Adds one duration; negative ones count as zero, those above half an hour as that.
  void add(std::chrono::nanoseconds duration);
  void add(const Histogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double minimum() const;  ///< Nanoseconds, as all that follow; 0 when empty.
  [[nodiscard]] double maximum() const;
  [[nodiscard]] double mean() const;
  /// The value that `fraction` (0..1) of all durations do not exceed.
  [[nodiscard]] double quantile(double fraction) const;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t minimum_ = UINT64_MAX;
  std::uint64_t maximum_ = 0;
  double sum_ = 0;
};

}  // namespace iwarp::cli::perf
