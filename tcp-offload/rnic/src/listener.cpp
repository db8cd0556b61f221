#include "listener.hpp"

#include <algorithm>
#include <cerrno>

#include "incoming.hpp"
#include "iwarp/provider/failure.hpp"

namespace iwarp::rnic {
namespace {

using verbs::Outcome;
using verbs::provider::IncomingHandler;
using verbs::provider::ListenOptions;

/// Gets the requests of a listener. Those that reach another adapter than its own, and those that
/// the program does not want, are rejected.
class Requests final : public CmTarget {
 public:
  Requests(std::weak_ptr<Host> host, ListenOptions options, IncomingHandler handler)
      : host_(std::move(host)), options_(std::move(options)), handler_(std::move(handler)) {}

  void on_cm_event(CmEvent event) override {
    const auto host = host_.lock();
    if (!host || event.type != RDMA_CM_EVENT_CONNECT_REQUEST) return;
    CmId id(host->adapter()->core, event.id);
    // A request for which there is no memory is rejected, not taken again.
    verbs::call_program([&] { take(host, id, event); });
    if (id) host->adapter()->core.rdma_reject(id.get(), nullptr, 0);
  }

 private:
  void take(const std::shared_ptr<Host>& host, CmId& id, const CmEvent& event) const {
    if (is_wanted(*host, id)) handler_(make_incoming(host, id, event));
  }
  [[nodiscard]] bool is_wanted(const Host& host, const CmId& id) const {
    if (id.get()->verbs != host.adapter()->context) return false;
    if (!options_.admits) return true;
    bool admitted = false;
    verbs::call_program([&] { admitted = options_.admits(remote_of(id.get())); });
    return admitted;
  }

  const std::weak_ptr<Host> host_;
  const ListenOptions options_;
  const IncomingHandler handler_;
};

class AdapterListener final : public verbs::provider::Listener {
 public:
  AdapterListener(std::shared_ptr<Host> host, std::shared_ptr<Requests> requests, CmId id)
      : host_(std::move(host)), requests_(std::move(requests)), id_(std::move(id)) {}
  ~AdapterListener() override { host_->loop().forget_and_wait(id_); }
  AdapterListener(const AdapterListener&) = delete;
  AdapterListener& operator=(const AdapterListener&) = delete;

  [[nodiscard]] verbs::Endpoint endpoint() const override { return local_of(id_.get()); }

 private:
  const std::shared_ptr<Host> host_;
  const std::shared_ptr<Requests> requests_;
  const CmId id_;
};

// librdmacm says the same of a port that is taken and of an address that is not this host's.
bool is_local(const Host& host, const verbs::Address& address) {
  const verbs::Endpoint any_port(address, 0);
  const auto id = host.loop().make_id({});
  if (!id) return false;
  host.loop().forget(*id);
  auto* const at = const_cast<sockaddr*>(any_port.data());
  return host.adapter()->core.rdma_bind_addr(id->get(), at) == 0;
}

// What librdmacm says to an address: the system's errors, and ENODEV of one that is no adapter's.
Outcome<void> begin(const Host& host, const CmId& id, const verbs::Endpoint& at,
                    const ListenOptions& options) {
  const RdmaCore& core = host.adapter()->core;
  const std::string what = "it cannot listen at " + at.to_string();
  if (options.v6_only &&
      set_option(core, id.get(), RDMA_OPTION_ID_AFONLY, *options.v6_only ? 1 : 0) != 0) {
    return failure(host.adapter()->error(what + " for IPv6 alone, or for IPv4 too", errno));
  }
  if (options.traffic_class &&
      set_option(core, id.get(), RDMA_OPTION_ID_TOS, *options.traffic_class) != 0) {
    return failure(host.adapter()->error(what + " with a traffic class", errno));
  }
  if (core.rdma_bind_addr(id.get(), const_cast<sockaddr*>(at.data())) != 0) {
    const int error = errno;
    if (error == EACCES && at.port() != 0) {
      return failure(verbs::Error{std::make_error_code(std::errc::permission_denied),
                                  host.adapter()->name + ": " + what +
                                      ": ports below net.ipv4.ip_unprivileged_port_start take "
                                      "CAP_NET_BIND_SERVICE"});
    }
    const bool taken = error == EADDRNOTAVAIL && at.port() != 0 && is_local(host, at.address());
    return failure(host.adapter()->error(what, taken ? EADDRINUSE : error));
  }
  if (id.get()->verbs != nullptr && id.get()->verbs != host.adapter()->context) {
    return failure(host.adapter()->error(what + ", an address of another adapter", EADDRNOTAVAIL));
  }
  if (core.rdma_listen(id.get(), std::max(options.backlog, 1)) == 0) return {};
  return failure(host.adapter()->error(what, errno));
}

Outcome<CmId> made_at(const std::shared_ptr<Host>& host, const std::shared_ptr<Requests>& requests,
                      const verbs::Endpoint& at, const ListenOptions& options) {
  auto id = host->loop().make_id(requests);
  if (!id) return id;
  auto begun = begin(*host, *id, at, options);
  if (begun) return id;
  host->loop().forget(*id);
  return failure(begun.error());
}

}  // namespace

Outcome<std::shared_ptr<verbs::provider::Listener>> start_listen(const std::shared_ptr<Host>& host,
                                                                 const verbs::Endpoint& at,
                                                                 const ListenOptions& options,
                                                                 IncomingHandler handler) {
  auto requests = std::make_shared<Requests>(host, options, std::move(handler));
  auto id = made_at(host, requests, at, options);
  // The port that librdmacm has drawn may be that of a TCP socket: siw learns so when it listens.
  for (unsigned draws = kDraws; draws != 0 && at.port() == 0 && !id; --draws) {
    if (id.error().code != std::errc::address_in_use) break;
    id = made_at(host, requests, at, options);
  }
  if (!id) return failure(id.error());
  return std::shared_ptr<verbs::provider::Listener>(
      process::make_shared_here<AdapterListener>(host, std::move(requests), std::move(*id)));
}

}  // namespace iwarp::rnic
