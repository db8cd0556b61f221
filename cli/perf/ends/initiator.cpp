#include "perf/ends/initiator.hpp"

#include <algorithm>

#include "perf/rdma/memory_flag.hpp"

namespace iwarp::cli::perf {
namespace {

// Latency: a request at a time is under way; one in so many Sends asks for a completion.
constexpr std::uint32_t kLatencyRing = 64;

verbs::Opcode opcode(Operation operation) {
  switch (operation) {
    case Operation::kWrite: return verbs::Opcode::kWrite;
    case Operation::kRead: return verbs::Opcode::kRead;
    case Operation::kSend: break;
  }
  return verbs::Opcode::kSend;
}

}  // namespace

Initiator::Initiator(Link& link, const Workload& workload)
    : link_(link),
      workload_(workload),
      places_(Places::for_messages(workload.figure == Figure::kBandwidth ? workload.depth : 1,
                                   workload.size)),
      source_(places_.octets()),
      target_(places_.octets()),
      source_region_(link.register_memory(source_, link.domain().read_sink())),
      target_region_(link.register_memory(
          target_, verbs::Access::kLocalWrite | verbs::Access::kRemoteWrite)) {}

void Initiator::aim_at(const Ready& server) {
  if (workload_.operation != Operation::kSend && server.target.length < places_.octets()) {
    throw CommandError("the server offers less memory than it was asked for");
  }
  const bool rare = workload_.figure == Figure::kLatency && workload_.operation == Operation::kSend;
  const std::uint32_t length =
      workload_.figure == Figure::kLatency ? kLatencyRing : workload_.depth;
  requests_.emplace(opcode(workload_.operation), length, places_, source_region_, server.target,
                    SignalEvery{rare ? SignalEvery::kRarely : std::max(workload_.list, 1U)});
  window_ = workload_.operation == Operation::kSend ? server.window : UINT32_MAX;
  if (window_ < workload_.list) {
    throw CommandError(
        fmt::format("a list has {} Sends, and the server has receives for {}: a smaller --list",
                    workload_.list, window_));
  }
}

void Initiator::reset() {
  sequence_ = 0;
  store_flag(target_.data() + workload_.size - 1, sequence_);
}

std::uint64_t Initiator::run(Clock::time_point deadline, Histogram& latencies) {
  posted_ = completed_ = credited_ = 0;
  if (workload_.figure == Figure::kBandwidth) return stream(deadline);
  switch (workload_.operation) {
    case Operation::kWrite: return repeat(deadline, latencies, [this] { write_and_watch(); });
    case Operation::kRead: return repeat(deadline, latencies, [this] { read_once(); });
    case Operation::kSend: break;
  }
  return repeat(deadline, latencies, [this] { send_and_receive(); });
}

std::uint64_t Initiator::stream(Clock::time_point deadline) {
  while (Clock::now() < deadline) {
    post_lists(room());
    drain();
  }
  while (completed_ < posted_) drain();
  return posted_;
}

// As many lists as there is room for, or one of any length.
void Initiator::post_lists(std::uint32_t room) {
  const std::uint32_t length = workload_.list == 0 ? room : workload_.list;
  for (; room >= length && room != 0; room -= length) {
    link_.post(*requests_, length);
    posted_ += length;
  }
}

std::uint32_t Initiator::room() const {
  const std::uint64_t by_depth = workload_.depth - (posted_ - completed_);
  const std::uint64_t by_window = window_ - (posted_ - credited_);
  return static_cast<std::uint32_t>(
      std::min(by_depth, workload_.operation == Operation::kSend ? by_window : by_depth));
}

void Initiator::drain() {
  for (const verbs::Completion& completion : link_.poll()) {
    if (completion.opcode != verbs::CompletionOpcode::kReceive) {
      if (completion.wr_id == SendRing::kDataWork) completed_ += std::max(workload_.list, 1U);
      continue;
    }
    const auto credit = parse<Credit>(link_.message(completion));
    if (!credit || credit->taken < credited_ || credit->taken > posted_) throw_unexpected();
    credited_ = credit->taken;
    link_.took_receive();
  }
}

template <typename RoundTrip>
std::uint64_t Initiator::repeat(Clock::time_point deadline, Histogram& latencies,
                                RoundTrip round_trip) {
  std::uint64_t count = 0;
  for (auto before = Clock::now(); before < deadline; ++count) {
    round_trip();
    const auto after = Clock::now();
    latencies.add(after - before);
    before = after;
  }
  return count;
}

void Initiator::send_and_receive() {
  link_.post(*requests_, 1);
  for (bool received = false; !received;) {
    for (const verbs::Completion& completion : link_.poll()) {
      if (completion.opcode != verbs::CompletionOpcode::kReceive) continue;
      if (completion.byte_length != workload_.size) throw_unexpected();
      received = true;
      link_.took_receive();
    }
  }
}

void Initiator::write_and_watch() {
  sequence_ = next_flag(sequence_);
  store_flag(source_.data() + workload_.size - 1, sequence_);
  link_.post(*requests_, 1);
  std::byte* const flag = target_.data() + workload_.size - 1;
  bool accepted = false;
  while (!accepted || load_flag(flag) != sequence_) {
    for (const verbs::Completion& completion : link_.poll()) {
      if (completion.wr_id == SendRing::kDataWork) accepted = true;
    }
  }
}

void Initiator::read_once() {
  link_.post(*requests_, 1);
  for (bool arrived = false; !arrived;) {
    for (const verbs::Completion& completion : link_.poll()) {
      if (completion.opcode == verbs::CompletionOpcode::kRead) arrived = true;
    }
  }
}

}  // namespace iwarp::cli::perf
