#include "verbs/schedules/schedule.hpp"

#include <atomic>
#include <mutex>
#include <ostream>
#include <thread>

#include "verbs/schedules/run.hpp"

namespace iwarp::verbs::simtest::schedules {
namespace {

constexpr unsigned kMostReports = 10;

/// What the threads of one call share.
struct Batch {
  std::uint64_t first, count;
  std::ostream& out;
  std::atomic<std::uint64_t> next{0};
  std::atomic<unsigned> failed{0};
  std::mutex out_mutex{};

  void report(std::uint64_t seed, const std::vector<std::string>& violations) {
    const std::lock_guard lock(out_mutex);
    if (++failed > kMostReports) return;
    out << "schedule " << seed << ":\n";
    for (const std::string& sentence : violations) out << "  " << sentence << '\n';
    out << "  again, with a trace: schedules --verbose " << seed << std::endl;
  }

  void work() {
    while (failed.load() < kMostReports) {
      const std::uint64_t index = next.fetch_add(1);
      if (index >= count) return;
      const auto violations = run_schedule(first + index);
      if (!violations.empty()) report(first + index, violations);
    }
  }
};

}  // namespace

std::vector<std::string> run_schedule(std::uint64_t seed, std::ostream* trace) {
  return Run(seed, trace).go();
}

bool run_schedules(std::uint64_t first, std::uint64_t count, unsigned threads, std::ostream& out) {
  Batch batch{first, count, out};
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back([&batch] { batch.work(); });
  batch.work();
  for (std::thread& thread : others) thread.join();
  return batch.failed.load() == 0;
}

}  // namespace iwarp::verbs::simtest::schedules
