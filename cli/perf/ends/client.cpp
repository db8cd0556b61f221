#include "perf/ends/client.hpp"

#include <algorithm>
#include <cmath>

#include "start_up/reach.hpp"

namespace iwarp::cli::perf {
namespace {

using Clock = Initiator::Clock;

constexpr std::uint32_t kReceives = 32;
constexpr std::uint32_t kSmallestSendQueue = 64;
constexpr std::chrono::duration<double> kSlice{1};
constexpr std::chrono::duration<double> kWarmUp{0.2};
constexpr std::uint32_t kFewestSlices = 3;

LinkRoom room_for(const ClientOptions& options) {
  return {std::max(options.workload.depth, kSmallestSendQueue), kReceives, options.buffers,
          options.max_fpdu, options.patience};
}

// Adapters may have less room than the command line grants.
void check_depth(const Workload& workload, const verbs::DeviceAttributes& device) {
  const std::uint32_t others = kReceives + 2 * Link::kControlRoom;
  const std::uint32_t completions = device.max_cqe - std::min(device.max_cqe, others);
  const std::uint32_t requests = device.max_qp_wr - std::min(device.max_qp_wr, Link::kControlRoom);
  const std::uint32_t most = std::min(completions, requests);
  if (workload.depth <= most) return;
  throw CommandError(fmt::format("--depth {} is more than the device '{}' has room for: {}",
                                 workload.depth, device.name, most));
}

std::string asked_of(const HostPort& server, const Workload& workload) {
  return fmt::format("asking {} for the {} of {}s of {} octets at depth {}", cli::to_string(server),
                     to_string(workload.figure), to_string(workload.operation), workload.size,
                     workload.depth);
}

/// Whole slices of about a second, three at least.
std::uint32_t slices_in(std::chrono::duration<double> duration) {
  return std::max(static_cast<std::uint32_t>(std::lround(duration / kSlice)), kFewestSlices);
}

std::chrono::nanoseconds whole(std::chrono::duration<double> duration) {
  return std::chrono::ceil<std::chrono::nanoseconds>(duration);
}

verbs::ConnectOptions connect_options(const ClientOptions& options,
                                      const verbs::DeviceAttributes& device) {
  verbs::ConnectOptions result = options.connect;
  const Greeting greeting{options.workload.depth,
                          result.want_markers ? Markers::kWanted : Markers::kNone};
  result.private_data = greeting.encode();
  result.timeout = options.patience;
  if (options.workload.operation == Operation::kRead) {
    const std::uint32_t reads = std::clamp(options.workload.depth, 1U, device.max_ord);
    result.ord = static_cast<std::uint16_t>(reads);
  }
  return result;
}

}  // namespace

Client::Client(verbs::Device& device, const ClientOptions& options, const verbs::Endpoint& server)
    : options_(options), link_(device, room_for(options)), initiator_(link_, options.workload) {
  const Workload& workload = options_.workload;
  const bool data_in_receives =
      workload.operation == Operation::kSend && workload.figure == Figure::kLatency;
  link_.use_receives(kReceives, data_in_receives ? workload.size : 0);
  connection_ = link_.connect(server, connect_options(options_, device.attributes()));
}

Client::~Client() {
  if (!done_) link_.give_up();
}

void Client::agree() {
  const Workload& workload = options_.workload;
  link_.send(encode(Proposal{workload, initiator_.target()}));
  const Ready ready = link_.await<Ready>();
  initiator_.aim_at(ready);
  if (workload.baseline == Baseline::kRawTcp) {
    const verbs::Endpoint to(connection_.remote.address(), ready.baseline_port);
    raw_.emplace(connect_raw(to, ready.token, workload.waiting, options_.patience), workload);
  }
}

Results Client::measure() {
  agree();
  const std::uint32_t slices = slices_in(options_.duration);
  const auto slice = options_.duration / slices;
  Results results{options_.workload, options_.duration, connection_, {}, {}};
  if (raw_) results.baseline.emplace();

  const auto warm_up = whole(std::min(kWarmUp, slice));
  measure_slice(Flow::kOurs, warm_up);
  if (raw_) measure_slice(Flow::kRawTcp, warm_up);
  for (std::uint32_t i = 0; i < slices; ++i) {
    results.ours.slices.push_back(measure_slice(Flow::kOurs, whole(slice)));
    if (raw_) results.baseline->slices.push_back(measure_slice(Flow::kRawTcp, whole(slice)));
  }
  link_.queue_pair().disconnect();
  done_ = true;
  return results;
}

Slice Client::measure_slice(Flow flow, std::chrono::nanoseconds duration) {
  initiator_.reset();
  link_.relax();
  link_.send(encode(Start{flow, duration}));
  link_.await<Go>();
  link_.measure(options_.workload);
  Slice slice = run(flow, duration);
  const bool counts = flow == Flow::kRawTcp || options_.workload.operation == Operation::kSend;
  if (counts && slice.server.messages != slice.messages) {
    throw CommandError(
        fmt::format("the server saw {} of {} messages", slice.server.messages, slice.messages));
  }
  return slice;
}

Slice Client::run(Flow flow, std::chrono::nanoseconds duration) {
  Slice slice;
  const CpuTime cpu = CpuTime::now();
  const auto begin = Clock::now();
  if (flow == Flow::kOurs) {
    slice.messages = initiator_.run(begin + duration, slice.latencies);
  } else {
    slice.messages = raw_->run(begin + duration, slice.latencies);
    slice.time = Clock::now() - begin;
  }
  link_.send(encode(Stop{}));
  slice.server = link_.await<Report>();
  // The Stop comes behind all data: its answer says that they have arrived.
  if (flow == Flow::kOurs) slice.time = Clock::now() - begin;
  slice.client = CpuTime::now() - cpu;
  return slice;
}

Results run_client(verbs::Device& device, const ClientOptions& options) {
  check_depth(options.workload, device.attributes());
  const std::string asked = asked_of(options.server, options.workload);
  std::optional<Results> results;
  try {
    reach(options.server, [&](const verbs::Endpoint& endpoint) {
      results = Client(device, options, endpoint).measure();
    });
  } catch (const Rejected& rejected) {
    throw CommandError(
        describe_rejection(asked, rejected.private_data(), Service::kPerf, words_for));
  } catch (const MeasurementRefused& refused) {
    throw CommandError(describe_refusal(asked, Service::kPerf, refused.what()));
  } catch (const LinkLost& lost) {
    throw CommandError(cli::to_string(options.server) + ": " + lost.what());
  } catch (const PeerSilent& silent) {
    throw CommandError(cli::to_string(options.server) + ": " + silent.what());
  }
  return *std::move(results);
}

}  // namespace iwarp::cli::perf
