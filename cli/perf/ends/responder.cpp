#include "perf/ends/responder.hpp"

#include <algorithm>

#include "perf/rdma/memory_flag.hpp"

namespace iwarp::cli::perf {
namespace {

constexpr std::uint32_t kAnswerRing = 64;
constexpr std::uint32_t kSmallestWindow = 64;
constexpr std::uint32_t kControlReceives = 8;

bool is_latency(const Workload& workload, Operation operation) {
  return workload.figure == Figure::kLatency && workload.operation == operation;
}

verbs::Access target_access(Operation operation) {
  return operation == Operation::kRead ? verbs::Access::kRemoteRead
                                       : verbs::Access::kLocalWrite | verbs::Access::kRemoteWrite;
}

}  // namespace

std::uint32_t Responder::receives_for(std::uint32_t depth, std::uint32_t sends,
                                      const verbs::DeviceAttributes& device) {
  const std::uint32_t wanted = std::max(4 * depth, kSmallestWindow) + kControlReceives;
  const std::uint32_t others = sends + Link::kControlRoom;
  const std::uint32_t completions = device.max_cqe - std::min(device.max_cqe, others);
  // With fewer than these nothing can be measured: the device then says what it lacks.
  return std::max(std::min({wanted, device.max_qp_wr, completions}), kControlReceives + 1);
}

Responder::Responder(Link& link, const Proposal& proposal, std::uint32_t receives)
    : link_(link),
      workload_(proposal.workload),
      places_(Places::for_messages(workload_.figure == Figure::kBandwidth ? workload_.depth : 1,
                                   workload_.size)),
      source_(places_.octets()),
      target_(places_.octets()),
      source_region_(link.register_memory(source_, verbs::Access::kNone)),
      target_region_(link.register_memory(target_, target_access(workload_.operation))),
      window_(receives - kControlReceives),
      answers_(
          workload_.operation == Operation::kWrite ? verbs::Opcode::kWrite : verbs::Opcode::kSend,
          kAnswerRing, Places{workload_.size, 1}, source_region_, proposal.target,
          SignalEvery{is_latency(workload_, Operation::kSend) ? SignalEvery::kRarely : 1}) {
  const bool data_in_receives = workload_.operation == Operation::kSend;
  link_.use_receives(receives, data_in_receives ? workload_.size : 0);
}

void Responder::reset() {
  messages_ = 0;
  sequence_ = 0;
  answer_accepted_ = true;
  stopped_ = false;
  store_flag(target_.data() + workload_.size - 1, sequence_);
  link_.repost_receives();
}

std::uint64_t Responder::run() {
  const bool watches = is_latency(workload_, Operation::kWrite);
  while (!stopped_) {
    for (const verbs::Completion& completion : link_.poll()) handle(completion);
    if (watches) watch_memory();
  }
  return messages_;
}

void Responder::handle(const verbs::Completion& completion) {
  if (completion.opcode != verbs::CompletionOpcode::kReceive) {
    if (completion.wr_id == SendRing::kDataWork) answer_accepted_ = true;
    return;
  }
  const ConstBytes bytes = link_.message(completion);
  if (const auto kind = control_kind(bytes)) {
    if (*kind != Kind::kStop) throw_unexpected();
    stopped_ = true;
    link_.took_receive();
    return;
  }
  if (workload_.operation != Operation::kSend || bytes.size() != workload_.size) {
    throw_unexpected();
  }
  on_message();
}

void Responder::on_message() {
  ++messages_;
  if (workload_.figure == Figure::kLatency) link_.post(answers_, 1);
  const bool reposted = link_.took_receive();
  if (reposted && workload_.figure == Figure::kBandwidth) link_.send(encode(Credit{messages_}));
}

void Responder::watch_memory() {
  const std::uint8_t expected = next_flag(sequence_);
  if (!answer_accepted_ || load_flag(target_.data() + workload_.size - 1) != expected) return;
  sequence_ = expected;
  store_flag(source_.data() + workload_.size - 1, sequence_);
  answer_accepted_ = false;
  ++messages_;
  link_.post(answers_, 1);
}

}  // namespace iwarp::cli::perf
