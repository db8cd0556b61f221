#include "shared/stats.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

#include "iwarp/process/forks.hpp"

namespace iwarp::compat {
namespace {

using verbs::TerminateInfo;

struct Count {
  std::uint64_t value;
  const char* of;
};

/// "3 Sends, 1 Read", or "nothing".
std::string list(std::initializer_list<Count> counts) {
  std::ostringstream text;
  for (const auto& [value, of] : counts) {
    if (value == 0) continue;
    text << (text.tellp() > 0 ? ", " : "") << value << ' ' << of << (value == 1 ? "" : "s");
  }
  return text.tellp() > 0 ? text.str() : "nothing";
}

std::string operations(const verbs::QpCounters& done) {
  return list({{done.sends, "Send"},
               {done.receives, "Receive"},
               {done.writes, "Write"},
               {done.reads, "Read"},
               {done.atomics, "Atomic"},
               {done.immediates, "Immediate"}}) +
         "; the peer " +
         list({{done.peer_writes, "Write"},
               {done.peer_reads, "Read"},
               {done.peer_atomics, "Atomic"}});
}

std::string wire(std::uint64_t fpdus, std::uint64_t octets) {
  return list({{fpdus, "FPDU"}, {octets, "octet"}});
}

std::string numbers(const TerminateInfo& terminate) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%u/%u/0x%02x", unsigned{terminate.layer},
                unsigned{terminate.type}, unsigned{terminate.code});
  return text.data();
}

std::string terminates(const ConnectionStats& stats) {
  if (!stats.sent && !stats.received) return "none";
  std::string text;
  if (stats.sent) text = "sent " + numbers(*stats.sent);
  if (stats.received) text += (text.empty() ? "" : ", ") + ("received " + numbers(*stats.received));
  return text;
}

std::string addresses(const ConnectionStats& stats) {
  std::ostringstream text;
  if (stats.local && stats.remote) {
    text << "connection from " << *stats.local << " to " << *stats.remote;
  } else {
    text << "connection that was not established";
  }
  text << " (queue pair " << stats.queue_pair << ")";
  return text.str();
}

/// Every queue pair of the process that may still have to be printed.
class Registry {
 public:
  static Registry& instance() { return process::of_this_process<Registry>(); }

  void add(const std::shared_ptr<QpStats>& stats) {
    [[maybe_unused]] static const int at_exit = std::atexit([] { instance().print_all(); });
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [](const auto& one) { return one.expired(); });
    all_.push_back(stats);
  }

 private:
  void print_all() {
    std::vector<std::weak_ptr<QpStats>> all;
    {
      const std::lock_guard lock(mutex_);
      all.swap(all_);
    }
    for (const auto& one : all) {
      if (const auto stats = one.lock()) stats->print();
    }
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<QpStats>> all_;
};

}  // namespace

std::string describe(const ConnectionStats& stats) {
  const verbs::QpCounters& counters = stats.counters;
  std::ostringstream text;
  text << "iwarp: " << addresses(stats) << '\n'
       << "iwarp:   did         " << operations(counters) << '\n'
       << "iwarp:   sent        " << wire(counters.fpdus_sent, counters.octets_sent)
       << "; received " << wire(counters.fpdus_received, counters.octets_received) << '\n'
       << "iwarp:   Terminates  " << terminates(stats) << '\n'
       << "iwarp:   end         " << stats.diagnosis.to_string() << '\n';
  return text.str();
}

std::shared_ptr<QpStats> QpStats::if_wanted() {
  const char* const wanted = std::getenv("IWARP_STATS");
  if (wanted == nullptr || std::string_view(wanted) != "1") return nullptr;
  auto stats = std::make_shared<QpStats>();
  Registry::instance().add(stats);
  return stats;
}

void QpStats::follow(const std::shared_ptr<const verbs::provider::Qp>& qp) {
  const std::lock_guard lock(mutex_);
  qp_ = qp;
}

void QpStats::note(const verbs::ConnectionEvent& event) {
  if (event.kind != verbs::ConnectionEvent::Kind::kEstablished) return;
  const std::lock_guard lock(mutex_);
  local_ = event.info.local;
  remote_ = event.info.remote;
}

void QpStats::print() {
  ConnectionStats stats;
  std::shared_ptr<const verbs::provider::Qp>
      qp;  // if this is its last owner, it goes without the lock
  {
    const std::lock_guard lock(mutex_);
    qp = qp_.lock();
    if (printed_ || qp == nullptr) return;
    printed_ = true;
    stats.local = local_;
    stats.remote = remote_;
  }
  stats.queue_pair = qp->number();
  stats.counters = qp->counters();
  stats.sent = qp->terminate_sent();
  stats.received = qp->terminate_received();
  stats.diagnosis = qp->diagnosis();
  if (!stats.local && stats.diagnosis.by == verbs::EndedBy::kNobody) return;
  const std::string text = describe(stats);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace iwarp::compat
