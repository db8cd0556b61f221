#include "soft/startup/startup.hpp"

#include <boost/asio/socket_base.hpp>
#include <future>
#include <utility>

#include "iwarp/process/forks.hpp"
#include "soft/engine/device_thread.hpp"
#include "soft/interface.hpp"
#include "soft/startup/error.hpp"
#include "soft/startup/initiator/connect_session.hpp"
#include "soft/startup/options.hpp"
#include "soft/startup/responder/listener.hpp"
#include "soft/startup/session.hpp"

namespace iwarp::verbs::soft {
namespace {

/// How long the destruction of a listener waits for the executor to close the socket. Something
/// else's handler may keep it from that, and may need the caller for its end.
constexpr std::chrono::seconds kCloseWait{1};

class SoftListener final : public provider::Listener {
 public:
  SoftListener(std::shared_ptr<tcp_offload::Device> device, std::shared_ptr<ListenerCore> core,
               const Endpoint& at)
      : device_(std::move(device)), core_(std::move(core)), endpoint_(at) {}
  ~SoftListener() override;

  [[nodiscard]] Endpoint endpoint() const override { return endpoint_; }

 private:
  const std::shared_ptr<tcp_offload::Device> device_;
  const std::shared_ptr<ListenerCore> core_;
  const Endpoint endpoint_;
};

SoftListener::~SoftListener() {
  core_->stop_calling();
  if (core_->take_back() || core_->is_executor()) {
    core_->close();
    return;
  }
  std::promise<void> closed;
  const auto done = closed.get_future();
  device_->post([core = core_, promise = std::move(closed)]() mutable {
    core->close();
    core.reset();
    promise.set_value();
  });
  // Two handlers may each destroy the other's listener.
  if (!on_device_thread) core_->await_last_call();
  done.wait_for(kCloseWait);
}

}  // namespace

Outcome<std::unique_ptr<Startup>> start_connect(tcp_offload::Device& device, const Endpoint& to,
                                                const ConnectOptions& options,
                                                StartupHandler handler) {
  auto initiator = make_initiator(options);
  if (!initiator) return failure(initiator.error());
  return begin_session<StartupResult>(
      device, std::make_shared<ConnectSession>(device, to, options, std::move(*initiator),
                                               std::move(handler)));
}

Outcome<std::shared_ptr<provider::Listener>> start_listen(
    std::shared_ptr<tcp_offload::Device> device, const Endpoint& at,
    const provider::ListenOptions& options, provider::IncomingHandler handler,
    AsResponder as_responder) {
  // They are accepted at once, and limited from there on.
  tcp_offload::ListenTerms terms(boost::asio::socket_base::max_listen_connections);
  terms.expected = options.max_half_open;
  terms.v6_only = options.v6_only;
  terms.traffic_class = options.traffic_class;
  auto acceptor = device->listen(at, terms);
  if (!acceptor) {
    const std::string where = to_text(at) + by_interface(*device);
    return failure(stream_error("listening on " + where + " failed", acceptor.error()));
  }
  const Endpoint bound = (*acceptor)->local_endpoint();
  auto core = std::make_shared<ListenerCore>(device, std::move(*acceptor), options,
                                             std::move(handler), std::move(as_responder));
  device->post([core] { core->start(); });
  return std::shared_ptr<provider::Listener>(
      process::make_shared_here<SoftListener>(std::move(device), std::move(core), bound));
}

}  // namespace iwarp::verbs::soft
