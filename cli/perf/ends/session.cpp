#include "perf/ends/session.hpp"

#include <algorithm>
#include <new>

#include "address.hpp"
#include "iwarp/process/secret.hpp"
#include "perf/measured/cpu_time.hpp"

namespace iwarp::cli::perf {
namespace {

constexpr std::uint32_t kAnswers = 64;
constexpr std::chrono::seconds kBetweenSlices{30};

std::uint64_t random_token() {
  const auto drawn = process::secret();
  if (!drawn) throw CommandError("no random numbers: " + drawn.error().message());
  return *drawn;
}

}  // namespace

Session::Session(verbs::Device& device, verbs::ConnectionRequest request, const Greeting& greeting,
                 std::uint32_t max_fpdu)
    : request_(std::move(request)),
      greeting_(greeting),
      ird_(static_cast<std::uint16_t>(std::min(device.attributes().max_ird, 0x3FFEU))),
      link_(device, {.sends = kAnswers,
                     .receives = Responder::receives_for(greeting.depth),
                     .max_fpdu = max_fpdu}) {}

void Session::run() {
  link_.use_receives(1, 0);  // for the Proposal
  verbs::ConnectOptions options;
  options.ird = ird_;
  options.require_crc = false;  // the client decides
  options.want_markers = greeting_.markers == Markers::kWanted;
  connection_ = require(request_.accept(link_.queue_pair(), options), "cannot accept");
  prepare();
  serve_slices();
}

void Session::prepare() {
  const auto proposal = link_.await<Proposal>();
  workload_ = proposal.workload;
  if (workload_.depth > greeting_.depth) throw_unexpected();
  try {
    responder_.emplace(link_, proposal);
  } catch (const std::bad_alloc&) {
    link_.send(encode(Refused{Refused::Reason::kNoMemory}));
    throw CommandError("not enough memory");
  }
  Ready ready{responder_->target(), responder_->window(), 0, random_token()};
  if (workload_.baseline == Baseline::kNone) {
    link_.send(encode(ready));
    return;
  }
  RawListener listener(connection_.local.address());
  ready.baseline_port = listener.port();
  link_.send(encode(ready));
  raw_.emplace(listener.accept(ready.token, workload_.waiting), workload_);
}

void Session::serve_slices() {
  while (true) {
    link_.relax();
    link_.patience().allow(kBetweenSlices);
    Start start;
    try {
      start = link_.await<Start>();
    } catch (const LinkLost&) {
      return;  // the client has left
    }
    link_.send(encode(serve(start)));
  }
}

Report Session::serve(const Start& start) {
  if (start.flow == Flow::kRawTcp && !raw_) throw_unexpected();
  responder_->reset();
  link_.patience().allow(start.duration + kPatience);
  link_.send(encode(Go{}));
  const CpuTime before = CpuTime::now();
  Report report;
  if (start.flow == Flow::kOurs) {
    link_.measure(workload_);
    report.messages = responder_->run();
  } else {
    report.messages = raw_->run(start.duration);
    link_.await<Stop>();
  }
  const CpuTime used = CpuTime::now() - before;
  report.process_time = used.process;
  report.thread_time = used.thread;
  return report;
}

std::string Session::describe() const {
  return fmt::format("{}: {} {} of {} octets", cli::to_string(connection_.remote),
                     to_string(workload_.operation), to_string(workload_.figure), workload_.size);
}

}  // namespace iwarp::cli::perf
