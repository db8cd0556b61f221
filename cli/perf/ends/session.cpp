#include "perf/ends/session.hpp"

#include <algorithm>
#include <new>

#include "address.hpp"
#include "interrupt.hpp"
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

Refused refusal_of(const std::exception& failed) {
  if (InterruptGuard::interrupted()) return {Refused::Reason::kEnded, {}};
  if (dynamic_cast<const std::bad_alloc*>(&failed) != nullptr) {
    return {Refused::Reason::kNoMemory, {}};
  }
  if (dynamic_cast<const Unexpected*>(&failed) != nullptr) {
    return {Refused::Reason::kBadRequest, {}};
  }
  return {Refused::Reason::kNoMeans, cli::describe(failed)};
}

}  // namespace

Session::Session(verbs::Device& device, const verbs::Endpoint& client, const Greeting& greeting,
                 const SessionOptions& options)
    : client_(client),
      greeting_(greeting),
      patience_(options.patience),
      ird_(static_cast<std::uint16_t>(std::min(device.attributes().max_ird, 0x3FFEU))),
      receives_(Responder::receives_for(greeting.depth, kAnswers, device.attributes())),
      link_(device, {.sends = kAnswers,
                     .receives = receives_,
                     .max_fpdu = options.max_fpdu,
                     .patience = options.patience}) {}

void Session::run(verbs::ConnectionRequest request) {
  link_.use_receives(1, 0);  // for the Proposal
  verbs::ConnectOptions options;
  options.timeout = patience_;
  options.ird = ird_;
  options.require_crc = false;  // the client decides
  options.want_markers = greeting_.markers == Markers::kWanted;
  connection_ = require(request.accept(link_.queue_pair(), options), "cannot accept");
  link_.patience().renew();
  try {
    agree();
    serve_slices();
  } catch (const PeerSilent&) {
    link_.give_up();
    throw;
  } catch (const std::exception&) {
    link_.leave();
    throw;
  }
}

void Session::agree() try { prepare(); } catch (const LinkLost&) {
  throw;
} catch (const PeerSilent&) {
  throw;
} catch (const std::exception& failed) {
  link_.send_last(encode(refusal_of(failed)));
  throw;
}

void Session::prepare() {
  const auto proposal = link_.await<Proposal>();
  workload_ = proposal.workload;
  if (workload_.depth > greeting_.depth) throw_unexpected();
  responder_.emplace(link_, proposal, receives_);
  Ready ready{responder_->target(), responder_->window(), 0, random_token()};
  if (workload_.baseline == Baseline::kNone) {
    link_.send(encode(ready));
    return;
  }
  RawListener listener(connection_.local.address());
  ready.baseline_port = listener.port();
  link_.send(encode(ready));
  raw_.emplace(listener.accept(ready.token, workload_.waiting, patience_), workload_);
}

void Session::serve_slices() {
  while (true) {
    link_.relax();
    link_.patience().allow(std::max<std::chrono::nanoseconds>(kBetweenSlices, patience_));
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
  link_.patience().allow(start.duration + patience_);
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
  return fmt::format("{}: {} {} of {} octets", cli::to_string(client_),
                     to_string(workload_.operation), to_string(workload_.figure), workload_.size);
}

}  // namespace iwarp::cli::perf
