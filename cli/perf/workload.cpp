#include "perf/workload.hpp"

namespace iwarp::cli::perf {
namespace {

template <typename Enum>
bool in_range(Enum value, Enum last) {
  return static_cast<unsigned>(value) >= 1 &&
         static_cast<unsigned>(value) <= static_cast<unsigned>(last);
}

}  // namespace

bool is_valid(const Workload& w) {
  const bool fields =
      in_range(w.operation, Operation::kSend) && in_range(w.figure, Figure::kLatency) &&
      in_range(w.waiting, Waiting::kEvents) && in_range(w.baseline, Baseline::kRawTcp) &&
      w.size >= 1 && w.size <= kMaxSize && w.depth >= 1 && w.depth <= kMaxDepth;
  // A Write tells its target nothing: a thread that waits for one can only look at the memory.
  const bool spins_on_memory = w.operation == Operation::kWrite && w.figure == Figure::kLatency;
  const bool lists = w.list == 0 || (w.figure == Figure::kBandwidth && w.depth % w.list == 0);
  return fields && lists && !(spins_on_memory && w.waiting == Waiting::kEvents);
}

const char* to_string(Operation operation) {
  switch (operation) {
    case Operation::kWrite: return "write";
    case Operation::kRead: return "read";
    case Operation::kSend: return "send";
  }
  return "unknown";
}

const char* to_string(Figure figure) {
  return figure == Figure::kBandwidth ? "bandwidth" : "latency";
}

const char* to_string(Waiting waiting) {
  return waiting == Waiting::kPolling ? "polling" : "events";
}

}  // namespace iwarp::cli::perf
