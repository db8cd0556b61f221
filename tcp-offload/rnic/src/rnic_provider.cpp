#include <cstdlib>
#include <exception>

#include "answer.hpp"
#include "host.hpp"
#include "iwarp/provider/failure.hpp"
#include "iwarp/provider/inherited.hpp"
#include "iwarp/rnic/adapters.hpp"
#include "iwarp/verbs/log.hpp"
#include "listener.hpp"
#include "memory.hpp"
#include "queue_pair.hpp"

namespace iwarp::rnic {
namespace {

using verbs::Outcome;
namespace provider = verbs::provider;

class RnicProvider final : public provider::Provider {
 public:
  explicit RnicProvider(std::shared_ptr<Host> host)
      : host_(std::move(host)), attributes_(attributes_of(*host_->adapter())) {}

  [[nodiscard]] const verbs::DeviceAttributes& attributes() const override { return attributes_; }

  Outcome<std::shared_ptr<provider::Pd>> alloc_pd() override {
    if (origin_.refuses()) return verbs::refused();
    return made<provider::Pd>("a protection domain cannot be made",
                              [&] { return ProtectionDomain::make(host_); });
  }

  Outcome<std::shared_ptr<provider::Mr>> register_memory(const std::shared_ptr<provider::Pd>& pd,
                                                         MutableBytes memory,
                                                         verbs::Access access) override {
    if (origin_.refuses()) return verbs::refused();
    const auto own = own_pd(pd);
    if (!own) return foreign("memory region");
    return made<provider::Mr>("a memory region cannot be registered",
                              [&] { return MemoryRegion::make(own, memory, access); });
  }

  Outcome<std::shared_ptr<provider::Mw>> alloc_window(const std::shared_ptr<provider::Pd>& pd,
                                                      verbs::WindowType type) override {
    if (origin_.refuses()) return verbs::refused();
    const auto own = own_pd(pd);
    if (!own) return foreign("memory window");
    return made<provider::Mw>("a memory window cannot be made",
                              [&] { return MemoryWindow::make(own, type); });
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
    return made<provider::Srq>("a shared receive queue cannot be made",
                               [&] { return SharedReceiveQueue::make(own, options); });
  }

  Outcome<std::shared_ptr<provider::Cq>> create_cq(std::uint32_t depth) override {
    if (origin_.refuses()) return verbs::refused();
    if (depth == 0 || depth > attributes_.max_cqe) {
      return verbs::fail(std::errc::invalid_argument,
                         "completion queue: a depth of " + std::to_string(depth) +
                             " is not from 1 to " + std::to_string(attributes_.max_cqe));
    }
    return made<provider::Cq>("a completion queue cannot be made",
                              [&] { return CompletionQueue::make(host_, depth); });
  }

  Outcome<std::shared_ptr<provider::Qp>> create_qp(const std::shared_ptr<provider::Pd>& pd,
                                                   provider::QpInit init) override {
    if (origin_.refuses()) return verbs::refused();
    const auto own = own_pd(pd);
    if (!own) return foreign("queue pair");
    return made<provider::Qp>("a queue pair cannot be made", [&] {
      return QueuePair::make(host_, attributes_, own, std::move(init));
    });
  }

  Outcome<std::shared_ptr<provider::Listener>> listen(const verbs::Endpoint& at,
                                                      const provider::ListenOptions& options,
                                                      provider::IncomingHandler handler) override {
    if (origin_.refuses()) return verbs::refused();
    if (const auto there = host_->adapter()->check(); !there) return failure(there.error());
    return answer_of(*host_->adapter(), "it cannot listen",
                     [&] { return start_listen(host_, at, options, std::move(handler)); });
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
  /// What `make` makes, as the seam hands it on.
  template <typename Base, typename Make>
  Outcome<std::shared_ptr<Base>> made(const char* what_failed, Make make) const {
    if (const auto there = host_->adapter()->check(); !there) return failure(there.error());
    auto object = answer_of(*host_->adapter(), what_failed, make);
    if (!object) return failure(object.error());
    return std::shared_ptr<Base>(std::move(*object));
  }
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

void warn_of_capture(const std::string& adapter) {
  const char* const directory = std::getenv("IWARP_CAPTURE");
  if (directory == nullptr || *directory == '\0') return;
  verbs::log(verbs::LogLevel::kWarn, "IWARP_CAPTURE: the connections of the adapter '" + adapter +
                                         "' are not recorded, their octets do not pass through "
                                         "this process");
}

}  // namespace

std::vector<std::string> adapter_names() {
  const auto core = RdmaCore::load();
  return core ? iwarp_adapters(**core) : std::vector<std::string>();
}

Outcome<std::shared_ptr<provider::Provider>> open_adapter(const std::string& name) {
  try {
    auto host = Host::open(name);
    if (!host) return failure(host.error());
    warn_of_capture(name);
    return std::shared_ptr<provider::Provider>(
        process::make_shared_here<RnicProvider>(std::move(*host)));
  } catch (const std::exception& thrown) {
    return failure(verbs::short_error_of(
        thrown, [&] { return "the adapter '" + name + "' cannot be opened"; }));
  }
}

}  // namespace iwarp::rnic
