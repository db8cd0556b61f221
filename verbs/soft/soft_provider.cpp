#include "soft/soft_provider.hpp"

#include <atomic>

#include "iwarp/mpa/enhanced_data.hpp"
#include "iwarp/mpa/mulpdu.hpp"
#include "iwarp/mpa/startup_frame.hpp"
#include "iwarp/process/forks.hpp"
#include "iwarp/provider/async_events.hpp"
#include "iwarp/provider/inherited.hpp"
#include "soft/memory_registry.hpp"
#include "soft/qp/soft_qp.hpp"
#include "soft/startup/adopt.hpp"
#include "soft/startup/startup.hpp"

namespace iwarp::verbs::soft {
namespace {

constexpr std::uint32_t kMaxQpWr = 32768;
constexpr std::uint32_t kMaxInline = 4096;
constexpr std::uint32_t kMaxCqe = SoftCq::kMaxDepth;
constexpr std::uint32_t kMaxReads = 128;
constexpr std::uint32_t kMaxObjects = 1U << 20U;
constexpr std::chrono::seconds kMaxReceiveWait{1};
constexpr std::chrono::hours kMaxLinger{1};
static_assert(kLeastMaxFpdu == mpa::unmarked_size(mpa::kMinMulpdu));
static_assert(kGreatestMaxFpdu >= mpa::largest_fpdu(mpa::Markers::kOn));
constexpr std::chrono::hours kMaxLiveness{24};

std::vector<std::string> names_of(tcp_offload::Offloads offloads) {
  std::vector<std::string> names;
  if (offloads.contains(tcp_offload::Offload::kCrc)) names.emplace_back("crc");
  if (offloads.contains(tcp_offload::Offload::kMarkers)) names.emplace_back("markers");
  return names;
}

DeviceAttributes attributes_of(DeviceNames names, const tcp_offload::Device& stream) {
  DeviceAttributes a;
  a.name = std::move(names.name);
  a.provider = "software";
  a.stream = std::move(names.stream);
  a.offloads = names_of(stream.offloads());
  a.max_qp = a.max_cq = a.max_pd = kMaxObjects;
  a.max_mr = ddp::StagTable::kMaxStags;
  a.max_qp_wr = kMaxQpWr;
  a.max_sge = kMaxSges;
  a.max_cqe = kMaxCqe;
  a.max_inline = kMaxInline;
  a.max_ird = a.max_ord = kMaxReads;
  a.max_mr_size = UINT64_MAX;
  a.max_mw = ddp::StagTable::kMaxStags;
  a.max_srq = kMaxObjects;
  a.max_srq_wr = kMaxQpWr;
  a.srq_share = a.resizes_cq = a.remote_invalidate = a.mpa_choices = a.rfc7306 = true;
  a.max_private_data = mpa::kMaxPrivateData - mpa::kEnhancedDataSize;
  return a;
}

// Says that a value breaks a limit; nothing if it does not.
std::optional<std::string> over(const std::string& what, std::uint32_t value, std::uint32_t limit) {
  if (value <= limit) return std::nullopt;
  return what + " " + std::to_string(value) + " is above the device's " + std::to_string(limit);
}

bool is_depth(std::uint32_t depth) { return depth != 0 && depth <= kMaxCqe; }

Failure<Error> wrong_depth(std::uint32_t depth) {
  return fail(std::errc::invalid_argument, "completion queue: a depth of " + std::to_string(depth) +
                                               " is not from 1 to " + std::to_string(kMaxCqe));
}

// Says which limit a capacity breaks; nothing if none.
std::optional<std::string> beyond_limits(const QpCapacity& wanted) {
  if (auto text = over("queue pair: max_send_wr", wanted.max_send_wr, kMaxQpWr)) return text;
  if (auto text = over("queue pair: max_recv_wr", wanted.max_recv_wr, kMaxQpWr)) return text;
  if (auto text = over("queue pair: max_send_sge", wanted.max_send_sge, kMaxSges)) return text;
  if (auto text = over("queue pair: max_recv_sge", wanted.max_recv_sge, kMaxSges)) return text;
  return over("queue pair: max_inline", wanted.max_inline, kMaxInline);
}

// The same of a time.
std::optional<std::string> beyond(const std::string& what, std::chrono::milliseconds time,
                                  std::chrono::milliseconds longest) {
  if (time.count() >= 0 && time <= longest) return std::nullopt;
  return what + " is " + std::to_string(time.count()) + " ms; 0 to " +
         std::to_string(longest.count()) + " can be had";
}

std::optional<std::string> beyond_limits(const std::string& of, const Liveness& wanted) {
  const std::string what = of + ": liveness.";
  const auto unacknowledged = wanted.unacknowledged.value_or(kDefaultUnacknowledged);
  if (auto text = beyond(what + "unacknowledged", unacknowledged, kMaxLiveness)) return text;
  if (auto text = beyond(what + "keep_alive", wanted.keep_alive, kMaxLiveness)) return text;
  return beyond(what + "idle", wanted.idle, kMaxLiveness);
}

// Says which limit of a new queue pair is broken; nothing if none.
std::optional<std::string> beyond_limits(const provider::QpInit& wanted) {
  if (auto text = beyond_limits(wanted.capacity)) return text;
  if (auto text = beyond("queue pair: receive_wait", wanted.receive_wait, kMaxReceiveWait)) {
    return text;
  }
  if (auto text = beyond("queue pair: linger", wanted.linger, kMaxLinger)) return text;
  if (!is_max_fpdu(wanted.max_fpdu)) {
    return "queue pair: max_fpdu is " + std::to_string(wanted.max_fpdu) + " octets; 0, or " +
           std::to_string(kLeastMaxFpdu) + " to " + std::to_string(kGreatestMaxFpdu) +
           " can be had";
  }
  return beyond_limits("queue pair", wanted.liveness);
}

// Finds a queue pair of this device, and owns it itself: the handle that the program holds is not
// kept by a start-up.
AsResponder responder_of(const Services& here) {
  return [of = &here](const std::shared_ptr<provider::Qp>& qp) -> std::shared_ptr<ResponderQp> {
    auto* const own = dynamic_cast<SoftQp*>(qp.get());
    return own == nullptr || !own->works_with(*of) ? nullptr : own->responder();
  };
}

class SoftRequestWait final : public provider::RequestWait {
 public:
  SoftRequestWait(std::shared_ptr<Platform> platform, std::unique_ptr<Startup> startup)
      : platform_(std::move(platform)), startup_(std::move(startup)) {}
  ~SoftRequestWait() override {
    if (origin_.inherited()) process::leave_to_parent(std::move(startup_));
  }
  SoftRequestWait(const SoftRequestWait&) = delete;
  SoftRequestWait& operator=(const SoftRequestWait&) = delete;

 private:
  const std::shared_ptr<Platform> platform_;  // outlives the start-up
  std::unique_ptr<Startup> startup_;
  const process::Origin origin_;
};

class SoftProvider final : public provider::Provider {
 public:
  SoftProvider(std::shared_ptr<Platform> platform, DeviceNames names)
      : platform_(std::move(platform)),
        attributes_(attributes_of(std::move(names), platform_->device())) {}

  [[nodiscard]] const DeviceAttributes& attributes() const override { return attributes_; }

  Outcome<std::shared_ptr<provider::Pd>> alloc_pd() override {
    if (origin_.refuses()) return refused();
    return std::shared_ptr<provider::Pd>(
        std::make_shared<SoftPd>(ddp::ProtectionDomainId{next_pd_.fetch_add(1)}, registry().get()));
  }

  Outcome<std::shared_ptr<provider::Mr>> register_memory(const std::shared_ptr<provider::Pd>& pd,
                                                         MutableBytes memory,
                                                         Access access) override {
    if (origin_.refuses()) return refused();
    const auto own = own_pd(pd);
    if (!own) return fail(std::errc::invalid_argument, "memory region: a foreign PD");
    return soft::register_memory(registry(), own, memory, access);
  }

  Outcome<std::shared_ptr<provider::Mr>> register_memory_at(const std::shared_ptr<provider::Pd>& pd,
                                                            MutableBytes memory, std::uint64_t base,
                                                            Access access) override {
    if (origin_.refuses()) return refused();
    const auto own = own_pd(pd);
    if (!own) return fail(std::errc::invalid_argument, "memory region: a foreign PD");
    return soft::register_memory(registry(), own, memory, access, base);
  }

  Outcome<void> reregister_memory(provider::Mr& mr, const std::shared_ptr<provider::Pd>& pd,
                                  MutableBytes memory, Access access,
                                  std::optional<std::uint64_t> base) override {
    auto* own = dynamic_cast<SoftMr*>(&mr);
    const auto under = own_pd(pd);
    if (own == nullptr || !under) {
      return fail(std::errc::invalid_argument,
                  "memory region: it, or its protection domain, is another device's than that of " +
                      attributes_.name);
    }
    return own->reregister(under, memory, access, base);
  }

  Outcome<void> prefetch(const std::shared_ptr<provider::Pd>& pd, std::span<const Sge> parts,
                         bool to_write) override {
    if (origin_.refuses()) return refused();
    const auto own = own_pd(pd);
    if (!own) return fail(std::errc::invalid_argument, "memory region: a foreign PD");
    return soft::prefetch(registry()->table(), own->id(), parts,
                          to_write ? Touch::kWrite : Touch::kRead);
  }

  [[nodiscard]] Outcome<void> check(const std::shared_ptr<provider::Pd>& pd,
                                    std::span<const Sge> sges, Access needed) const override {
    if (origin_.refuses()) return refused();
    const auto own = own_pd(pd);
    if (!own) return fail(std::errc::invalid_argument, "memory region: a foreign PD");
    return soft::check(registry()->table(), own->id(), sges, needed);
  }

  Outcome<std::shared_ptr<provider::Mw>> alloc_window(const std::shared_ptr<provider::Pd>& pd,
                                                      WindowType type) override {
    if (origin_.refuses()) return refused();
    const auto own = own_pd(pd);
    if (!own) return fail(std::errc::invalid_argument, "memory window: a foreign PD");
    const Reserved kind = type == WindowType::k1 ? Reserved::kWindow1 : Reserved::kWindow2;
    const auto stag = registry()->reserve(kind, own->id());
    if (!stag) return fail(std::errc::not_enough_memory, "memory window: no STag is free");
    return std::shared_ptr<provider::Mw>(
        process::make_shared_here<SoftMw>(registry(), own, type, *stag));
  }

  Outcome<std::shared_ptr<provider::FastMr>> alloc_fast_region(
      const std::shared_ptr<provider::Pd>& pd) override {
    if (origin_.refuses()) return refused();
    const auto own = own_pd(pd);
    if (!own) return fail(std::errc::invalid_argument, "fast region: a foreign PD");
    const auto stag = registry()->reserve(Reserved::kFastRegion, own->id());
    if (!stag) return fail(std::errc::not_enough_memory, "fast region: no STag is free");
    return std::shared_ptr<provider::FastMr>(
        process::make_shared_here<SoftFastMr>(registry(), own, *stag));
  }

  Outcome<std::shared_ptr<provider::Srq>> create_srq(const std::shared_ptr<provider::Pd>& pd,
                                                     const provider::SrqOptions& options) override {
    if (origin_.refuses()) return refused();
    const auto own = own_pd(pd);
    if (!own) return fail(std::errc::invalid_argument, "shared receive queue: a foreign PD");
    auto text = over("shared receive queue: max_wr", options.max_wr, kMaxQpWr);
    if (!text) text = over("shared receive queue: max_sge", options.max_sge, kMaxSges);
    if (text) return fail(std::errc::invalid_argument, std::move(*text));
    return std::shared_ptr<provider::Srq>(
        process::make_shared_here<SoftSrq>(services(), own, options, next_srq_.fetch_add(1)));
  }

  Outcome<std::shared_ptr<provider::Cq>> create_cq(std::uint32_t depth) override {
    if (origin_.refuses()) return refused();
    if (!is_depth(depth)) return wrong_depth(depth);
    return std::shared_ptr<provider::Cq>(
        process::make_shared_here<SoftCq>(services(), depth, next_cq_.fetch_add(1)));
  }

  Outcome<std::shared_ptr<provider::Qp>> create_qp(const std::shared_ptr<provider::Pd>& pd,
                                                   provider::QpInit init) override {
    if (origin_.refuses()) return refused();
    SoftQp::Init own;
    own.pd = own_pd(pd);
    own.send_cq = std::dynamic_pointer_cast<SoftCq>(init.send_cq);
    own.recv_cq = std::dynamic_pointer_cast<SoftCq>(init.recv_cq);
    if (!own.pd || !own.send_cq || !own.recv_cq) {
      return fail(std::errc::invalid_argument, "queue pair: a foreign or missing PD or CQ");
    }
    own.srq = std::dynamic_pointer_cast<SoftSrq>(init.srq);
    if (init.srq && (!own.srq || own.srq->pd() != own.pd)) {
      return fail(std::errc::invalid_argument,
                  "queue pair: its shared receive queue is foreign or of another PD");
    }
    if (own.send_cq->inherited() || own.recv_cq->inherited() || (own.srq && own.srq->inherited())) {
      return refused();
    }
    const Services& here = platform_->services();
    if (!own.send_cq->works_with(here) || !own.recv_cq->works_with(here)) {
      return fail(std::errc::invalid_argument,
                  "queue pair: its completion queue is another device's");
    }
    if (auto text = beyond_limits(init)) {
      return fail(std::errc::invalid_argument, std::move(*text));
    }
    own.services = services();
    own.device = &platform_->device(init.capture);
    own.capture = std::move(init.capture);
    own.capacity = init.capacity;
    own.signaling = init.signaling;
    own.on_event = std::move(init.on_event);
    own.number = init.number != 0 ? init.number : next_qp_.fetch_add(1);
    own.connectionless = init.connectionless;
    own.flushes_late_posts = init.flushes_late_posts;
    own.receive_wait = init.receive_wait;
    own.patience.linger = init.linger;
    own.liveness = init.liveness;
    own.source_buffers = init.source_buffers;
    own.max_fpdu = init.max_fpdu;
    return std::shared_ptr<provider::Qp>(SoftQp::make(std::move(own)));
  }

  Outcome<std::shared_ptr<provider::Listener>> listen(const Endpoint& at,
                                                      const provider::ListenOptions& options,
                                                      provider::IncomingHandler handler) override {
    if (origin_.refuses()) return refused();
    if (options.liveness) {
      if (auto text = beyond_limits("listener", *options.liveness)) {
        return fail(std::errc::invalid_argument, std::move(*text));
      }
    }
    return start_listen(device(), at, options, std::move(handler),
                        responder_of(platform_->services()));
  }

  Outcome<std::unique_ptr<provider::RequestWait>> await_request(
      StreamingSocket& socket, const provider::AwaitOptions& options,
      provider::AwaitHandler handler) override {
    if (origin_.refuses()) return refused();
    auto started = adopt_as_responder(device(), socket, options, std::move(handler),
                                      responder_of(platform_->services()));
    if (!started) return failure(started.error());
    return std::unique_ptr<provider::RequestWait>(
        std::make_unique<SoftRequestWait>(platform_, std::move(*started)));
  }

  void on_async_event(provider::AsyncHandler handler) override {
    if (!origin_.refuses()) platform_->services().events.on_event(std::move(handler));
  }

  std::optional<AsyncEvent> wait_async_event(std::chrono::milliseconds timeout) override {
    if (origin_.refuses()) return std::nullopt;
    return platform_->services().events.wait(timeout);
  }

  void finish() override {
    if (!origin_.inherited()) platform_->finish();
  }

 private:
  /// Null if it is another device's.
  [[nodiscard]] std::shared_ptr<SoftPd> own_pd(const std::shared_ptr<provider::Pd>& pd) const {
    auto own = std::dynamic_pointer_cast<SoftPd>(pd);
    return own && own->works_with(*registry()) ? own : nullptr;
  }
  [[nodiscard]] std::shared_ptr<const Services> services() const {
    return {platform_, &platform_->services()};
  }
  [[nodiscard]] std::shared_ptr<tcp_offload::Device> device() const {
    return {platform_, &platform_->device()};
  }
  [[nodiscard]] const std::shared_ptr<MemoryRegistry>& registry() const {
    return platform_->services().memory;
  }

  const std::shared_ptr<Platform> platform_;
  const process::Origin origin_;
  DeviceAttributes attributes_;
  std::atomic<std::uint32_t> next_pd_{1}, next_cq_{1}, next_srq_{1}, next_qp_{2};
};

}  // namespace

std::shared_ptr<provider::Provider> make_provider(std::shared_ptr<Platform> platform,
                                                  DeviceNames names) {
  return std::make_shared<SoftProvider>(std::move(platform), std::move(names));
}

}  // namespace iwarp::verbs::soft
