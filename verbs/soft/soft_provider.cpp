#include <atomic>

#include "iwarp/mpa/enhanced_data.hpp"
#include "iwarp/mpa/startup_frame.hpp"
#include "soft/adopt.hpp"
#include "soft/runtime.hpp"
#include "soft/soft_qp.hpp"
#include "soft/startup.hpp"

namespace iwarp::verbs::soft {
namespace {

constexpr std::uint32_t kMaxQpWr = 32768;
constexpr std::uint32_t kMaxInline = 4096;
constexpr std::uint32_t kMaxCqe = 1U << 22U;
constexpr std::uint32_t kMaxReads = 128;
constexpr std::uint32_t kMaxObjects = 1U << 20U;

DeviceAttributes attributes_of(std::string name, const Runtime&) {
  DeviceAttributes a;
  a.name = std::move(name);
  a.provider = "software";
  a.stream = "kernel";
  a.max_qp = a.max_cq = a.max_pd = kMaxObjects;
  a.max_mr = ddp::StagTable::kMaxSlots;
  a.max_qp_wr = kMaxQpWr;
  a.max_sge = kMaxSges;
  a.max_cqe = kMaxCqe;
  a.max_inline = kMaxInline;
  a.max_ird = a.max_ord = kMaxReads;
  a.max_mr_size = UINT64_MAX;
  a.max_private_data = mpa::kMaxPrivateData - mpa::kEnhancedDataSize;
  return a;
}

// Says which limit a capacity breaks; nothing if none.
std::optional<std::string> beyond_limits(const QpCapacity& wanted) {
  const auto over = [](const char* what, std::uint32_t value,
                       std::uint32_t limit) -> std::optional<std::string> {
    if (value <= limit) return std::nullopt;
    return std::string("queue pair: ") + what + " " + std::to_string(value) +
           " is above the device's " + std::to_string(limit);
  };
  if (auto text = over("max_send_wr", wanted.max_send_wr, kMaxQpWr)) return text;
  if (auto text = over("max_recv_wr", wanted.max_recv_wr, kMaxQpWr)) return text;
  if (auto text = over("max_send_sge", wanted.max_send_sge, kMaxSges)) return text;
  if (auto text = over("max_recv_sge", wanted.max_recv_sge, kMaxSges)) return text;
  return over("max_inline", wanted.max_inline, kMaxInline);
}

std::shared_ptr<ResponderQp> responder_of(const std::shared_ptr<provider::Qp>& qp) {
  return std::dynamic_pointer_cast<ResponderQp>(qp);
}

class SoftRequestWait final : public provider::RequestWait {
 public:
  SoftRequestWait(std::shared_ptr<Runtime> runtime, std::unique_ptr<Startup> startup)
      : runtime_(std::move(runtime)), startup_(std::move(startup)) {}

 private:
  const std::shared_ptr<Runtime> runtime_;  // outlives the start-up
  const std::unique_ptr<Startup> startup_;
};

class SoftProvider final : public provider::Provider {
 public:
  explicit SoftProvider(std::string name)
      : runtime_(Runtime::make()), attributes_(attributes_of(std::move(name), *runtime_)) {}

  [[nodiscard]] const DeviceAttributes& attributes() const override { return attributes_; }

  Outcome<std::shared_ptr<provider::Pd>> alloc_pd() override {
    return std::shared_ptr<provider::Pd>(
        std::make_shared<SoftPd>(ddp::ProtectionDomainId{next_pd_.fetch_add(1)}));
  }

  Outcome<std::shared_ptr<provider::Mr>> register_memory(const std::shared_ptr<provider::Pd>& pd,
                                                         MutableBytes memory,
                                                         Access access) override {
    const auto own = std::dynamic_pointer_cast<SoftPd>(pd);
    if (!own) return fail(std::errc::invalid_argument, "memory region: a foreign PD");
    return soft::register_memory(runtime_->registry(), own, memory, access);
  }

  Outcome<std::shared_ptr<provider::Cq>> create_cq(std::uint32_t depth) override {
    if (depth == 0 || depth > kMaxCqe) {
      return fail(std::errc::invalid_argument, "completion queue: a depth of " +
                                                   std::to_string(depth) + " is not from 1 to " +
                                                   std::to_string(kMaxCqe));
    }
    return std::shared_ptr<provider::Cq>(
        std::make_shared<SoftCq>(runtime_, depth, next_cq_.fetch_add(1)));
  }

  Outcome<std::shared_ptr<provider::Qp>> create_qp(const std::shared_ptr<provider::Pd>& pd,
                                                   provider::QpInit init) override {
    SoftQp::Init own;
    own.pd = std::dynamic_pointer_cast<SoftPd>(pd);
    own.send_cq = std::dynamic_pointer_cast<SoftCq>(init.send_cq);
    own.recv_cq = std::dynamic_pointer_cast<SoftCq>(init.recv_cq);
    if (!own.pd || !own.send_cq || !own.recv_cq) {
      return fail(std::errc::invalid_argument, "queue pair: a foreign or missing PD or CQ");
    }
    if (auto text = beyond_limits(init.capacity)) {
      return fail(std::errc::invalid_argument, std::move(*text));
    }
    own.host = runtime_;
    own.device = &runtime_->device();
    own.capacity = init.capacity;
    own.signaling = init.signaling;
    own.on_event = std::move(init.on_event);
    own.number = next_qp_.fetch_add(1);
    return std::shared_ptr<provider::Qp>(std::make_shared<SoftQp>(std::move(own)));
  }

  Outcome<std::shared_ptr<provider::Listener>> listen(const Endpoint& at,
                                                      const provider::ListenOptions& options,
                                                      provider::IncomingHandler handler) override {
    const std::shared_ptr<tcp_offload::Device> device(runtime_, &runtime_->device());
    return start_listen(device, at, options, std::move(handler), responder_of);
  }

  Outcome<std::unique_ptr<provider::RequestWait>> await_request(
      StreamingSocket& socket, const provider::AwaitOptions& options,
      provider::AwaitHandler handler) override {
    const std::shared_ptr<tcp_offload::Device> device(runtime_, &runtime_->device());
    auto started = adopt_as_responder(device, socket, options, std::move(handler), responder_of);
    if (!started) return failure(started.error());
    return std::unique_ptr<provider::RequestWait>(
        std::make_unique<SoftRequestWait>(runtime_, std::move(*started)));
  }

  std::optional<AsyncEvent> wait_async_event(std::chrono::milliseconds timeout) override {
    return runtime_->wait_async_event(timeout);
  }

 private:
  std::shared_ptr<Runtime> runtime_;
  DeviceAttributes attributes_;
  std::atomic<std::uint32_t> next_pd_{1}, next_cq_{1}, next_qp_{2};
};

}  // namespace
}  // namespace iwarp::verbs::soft

namespace iwarp::verbs::provider {

Outcome<std::shared_ptr<Provider>> open_software(const std::string& device_name) {
  return std::shared_ptr<Provider>(std::make_shared<soft::SoftProvider>(device_name));
}

}  // namespace iwarp::verbs::provider
