#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "iwarp/connection/inbound.hpp"
#include "iwarp/connection/outbound.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::verbs::soft {

/// What one half of a connection counts, and under which name the program sees it.
template <typename Half>
struct CounterRow {
  std::uint64_t Half::*counted;
  std::uint64_t QpCounters::*seen;
};

inline constexpr CounterRow<connection::InboundCounters> kInboundRows[] = {
    {&connection::InboundCounters::octets, &QpCounters::octets_received},
    {&connection::InboundCounters::fpdus, &QpCounters::fpdus_received},
    {&connection::InboundCounters::receives, &QpCounters::receives},
    {&connection::InboundCounters::peer_writes, &QpCounters::peer_writes},
    {&connection::InboundCounters::peer_reads, &QpCounters::peer_reads},
    {&connection::InboundCounters::peer_atomics, &QpCounters::peer_atomics},
};

inline constexpr CounterRow<connection::OutboundCounters> kOutboundRows[] = {
    {&connection::OutboundCounters::octets, &QpCounters::octets_sent},
    {&connection::OutboundCounters::fpdus, &QpCounters::fpdus_sent},
    {&connection::OutboundCounters::sends, &QpCounters::sends},
    {&connection::OutboundCounters::writes, &QpCounters::writes},
    {&connection::OutboundCounters::reads, &QpCounters::reads},
    {&connection::OutboundCounters::immediates, &QpCounters::immediates},
    {&connection::OutboundCounters::atomics, &QpCounters::atomics},
};

/// The counters of one half, for any thread to see. That half publishes them before a completion
/// tells the program of what is counted.
template <const auto& kRows>
class PublishedCounters {
 public:
  /// By one thread at a time.
  template <typename Half>
  void publish(const Half& counters) {
    for (std::size_t i = 0; i < kSize; ++i) {
      values_[i].store(counters.*kRows[i].counted, std::memory_order_relaxed);
    }
  }
  void add_to(QpCounters& counters) const {
    for (std::size_t i = 0; i < kSize; ++i) counters.*kRows[i].seen = value(i);
  }
  /// Of the stream: the first row.
  [[nodiscard]] std::uint64_t octets() const { return value(0); }

 private:
  static constexpr std::size_t kSize = std::size(kRows);

  [[nodiscard]] std::uint64_t value(std::size_t i) const {
    return values_[i].load(std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint64_t>, kSize> values_{};
};

}  // namespace iwarp::verbs::soft
