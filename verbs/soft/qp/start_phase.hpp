#pragma once

#include <atomic>
#include <cstdint>

namespace iwarp::verbs::soft {

/// How far a queue pair's start-up has come. Any thread.
class StartPhase {
 public:
  enum class Phase : std::uint8_t {
    kNone,      ///< Not asked for, or refused at once.
    kUnderWay,  ///< Connecting.
    kUntold,    ///< Over, which the program does not know yet.
    kTold,
  };

  /// False if another thread has been faster, or it was in another phase.
  bool advance(Phase from, Phase to) { return phase_.compare_exchange_strong(from, to); }
  /// The program knows how the start-up has ended.
  void tell() { phase_.store(Phase::kTold); }
  [[nodiscard]] bool connecting() const { return phase_.load() == Phase::kUnderWay; }
  /// Whether completions wait for the program to be told how the start-up ended.
  [[nodiscard]] bool silent() const {
    const Phase phase = phase_.load();
    return phase == Phase::kUnderWay || phase == Phase::kUntold;
  }

 private:
  std::atomic<Phase> phase_{Phase::kNone};
};

}  // namespace iwarp::verbs::soft
