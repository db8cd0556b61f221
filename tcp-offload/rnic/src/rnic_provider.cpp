#include <exception>

#include "host.hpp"
#include "iwarp/provider/failure.hpp"
#include "iwarp/provider/inherited.hpp"
#include "iwarp/rnic/adapters.hpp"
#include "listener.hpp"
#include "memory.hpp"
#include "queue_pair.hpp"

namespace iwarp::rnic {
namespace {

using verbs::Outcome;
namespace provider = verbs::provider;

/// What is made, as the seam hands it on.
template <typename Base, typename Made>
Outcome<std::shared_ptr<Base>> as(Outcome<std::shared_ptr<Made>> made) {
  if (!made) return failure(made.error());
  return std::shared_ptr<Base>(std::move(*made));
}

class RnicProvider final : public provider::Provider {
 public:
  explicit RnicProvider(std::shared_ptr<Host> host)
      : host_(std::move(host)), attributes_(attributes_of(*host_->adapter())) {}

  [[nodiscard]] const verbs::DeviceAttributes& attributes() const override { return attributes_; }

  Outcome<std::shared_ptr<provider::Pd>> alloc_pd() override {
    if (origin_.refuses()) return verbs::refused();
    return as<provider::Pd>(ProtectionDomain::make(host_));
  }

  Outcome<std::shared_ptr<provider::Mr>> register_memory(const std::shared_ptr<provider::Pd>& pd,
                                                         MutableBytes memory,
                                                         verbs::Access access) override {
    if (origin_.refuses()) return verbs::refused();
    const auto own = own_pd(pd);
    if (!own) return foreign("memory region");
    return as<provider::Mr>(MemoryRegion::make(own, memory, access));
  }

  Outcome<std::shared_ptr<provider::Mw>> alloc_window(const std::shared_ptr<provider::Pd>& pd,
                                                      verbs::WindowType type) override {
    if (origin_.refuses()) return verbs::refused();
    const auto own = own_pd(pd);
    if (!own) return foreign("memory window");
    return as<provider::Mw>(MemoryWindow::make(own, type));
  }

  Outcome<std::shared_ptr<provider::Srq>> create_srq(const std::shared_ptr<provider::Pd>& pd,
                                                     const provider::SrqOptions& options) override {
    if (origin_.refuses()) return verbs::refused();
    const auto own = own_pd(pd);
    if (!own) return foreign("shared receive queue");
    if (options.max_wr > attributes_.max_srq_wr || options.max_sge > attributes_.max_sge) {
      return verbs::fail(std::errc::invalid_argument,
                         "shared receive queue: max_wr " + std::to_string(options.max_wr) +
                             " or max_sge " + std::to_string(options.max_sge) + " is above the " +
                             std::to_string(attributes_.max_srq_wr) + " or " +
                             std::to_string(attributes_.max_sge) + " of " + host_->adapter()->name);
    }
    return as<provider::Srq>(SharedReceiveQueue::make(own, options));
  }

  Outcome<std::shared_ptr<provider::Cq>> create_cq(std::uint32_t depth) override {
    if (origin_.refuses()) return verbs::refused();
    if (depth == 0 || depth > attributes_.max_cqe) {
      return verbs::fail(std::errc::invalid_argument,
                         "completion queue: a depth of " + std::to_string(depth) +
                             " is not from 1 to " + std::to_string(attributes_.max_cqe));
    }
    return as<provider::Cq>(CompletionQueue::make(host_, depth));
  }

  Outcome<std::shared_ptr<provider::Qp>> create_qp(const std::shared_ptr<provider::Pd>& pd,
                                                   provider::QpInit init) override {
    if (origin_.refuses()) return verbs::refused();
    const auto own = own_pd(pd);
    if (!own) return foreign("queue pair");
    return as<provider::Qp>(QueuePair::make(host_, attributes_, own, std::move(init)));
  }

  Outcome<std::shared_ptr<provider::Listener>> listen(const verbs::Endpoint& at,
                                                      const provider::ListenOptions& options,
                                                      provider::IncomingHandler handler) override {
    if (origin_.refuses()) return verbs::refused();
    return start_listen(host_, at, options, std::move(handler));
  }

  Outcome<std::unique_ptr<provider::RequestWait>> await_request(
      verbs::StreamingSocket& /*socket*/, const provider::AwaitOptions& /*options*/,
      provider::AwaitHandler /*handler*/) override {
    return verbs::fail(std::errc::not_supported,
                       host_->adapter()->name + " makes its own TCP connections: it adopts none");
  }

  void on_async_event(provider::AsyncHandler handler) override {
    if (!origin_.refuses()) host_->events().on_event(std::move(handler));
  }

  std::optional<verbs::AsyncEvent> wait_async_event(std::chrono::milliseconds timeout) override {
    if (origin_.refuses()) return std::nullopt;
    return host_->events().wait(timeout);
  }

 private:
  /// Null if it is another device's: also one of the same adapter is another.
  [[nodiscard]] std::shared_ptr<ProtectionDomain> own_pd(
      const std::shared_ptr<provider::Pd>& pd) const {
    auto own = std::dynamic_pointer_cast<ProtectionDomain>(pd);
    if (own && own->host() != host_) return nullptr;
    return own;
  }
  [[nodiscard]] Failure<verbs::Error> foreign(const char* what) const {
    return verbs::fail(std::errc::invalid_argument,
                       std::string(what) +
                           ": its protection domain is another device's than that of " +
                           host_->adapter()->name);
  }

  const std::shared_ptr<Host> host_;
  const verbs::DeviceAttributes attributes_;
  const process::Origin origin_;
};

}  // namespace

std::vector<std::string> adapter_names() {
  const auto core = RdmaCore::load();
  return core ? iwarp_adapters(**core) : std::vector<std::string>();
}

Outcome<std::shared_ptr<provider::Provider>> open_adapter(const std::string& name) {
  try {
    auto host = Host::open(name);
    if (!host) return failure(host.error());
    return std::shared_ptr<provider::Provider>(
        process::make_shared_here<RnicProvider>(std::move(*host)));
  } catch (const std::exception& thrown) {
    return failure(verbs::error_of(thrown, "the adapter '" + name + "' cannot be opened"));
  }
}

}  // namespace iwarp::rnic
