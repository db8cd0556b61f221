#include "incoming.hpp"

#include <atomic>
#include <cerrno>

#include "answer.hpp"
#include "iwarp/provider/inherited.hpp"
#include "queue_pair.hpp"

namespace iwarp::rnic {
namespace {

using verbs::ConnectionInfo;
using verbs::Outcome;

/// Notes that a peer has gone that waits for an answer.
class Withdrawal final : public CmTarget {
 public:
  void on_cm_event(CmEvent /*event*/) override { has_come_ = true; }
  [[nodiscard]] bool has_come() const { return has_come_.load(); }

 private:
  std::atomic<bool> has_come_{false};
};

class Incoming final : public verbs::provider::IncomingConnection {
 public:
  Incoming(std::shared_ptr<Host> host, CmId& id, ConnectionInfo info)
      : host_(std::move(host)), info_(std::move(info)) {
    host_->loop().watch(id, withdrawal_);
    id_ = std::move(id);
  }
  ~Incoming() override {
    if (origin_.inherited()) process::keep_inherited(new CmId(std::move(id_)));
    if (!id_) return;
    host_->loop().forget(id_);
    if (!answered_) answer_no({});
  }
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  [[nodiscard]] const ConnectionInfo& info() const override { return info_; }
  [[nodiscard]] bool withdrawn() const override { return withdrawal_->has_come(); }
  Outcome<void> accept(const std::shared_ptr<verbs::provider::Qp>& qp,
                       const verbs::ConnectOptions& options) override;
  Outcome<void> reject(ConstBytes private_data) override;
  Outcome<void> reject_and_keep(ConstBytes private_data,
                                verbs::provider::KeptHandler handler) override;

 private:
  [[nodiscard]] const Adapter& adapter() const { return *host_->adapter(); }
  int answer_no(ConstBytes private_data);
  [[nodiscard]] Outcome<void> check_unanswered() const;

  const std::shared_ptr<Host> host_;
  const std::shared_ptr<Withdrawal> withdrawal_ = std::make_shared<Withdrawal>();
  CmId id_;
  const ConnectionInfo info_;
  bool answered_ = false;
  const process::Origin origin_;
};

int Incoming::answer_no(ConstBytes private_data) {
  answered_ = true;
  const auto octets = static_cast<std::uint8_t>(private_data.size());
  return adapter().core.rdma_reject(id_.get(), private_data.data(), octets) == 0 ? 0 : errno;
}

Outcome<void> Incoming::check_unanswered() const {
  if (answered_) {
    return verbs::fail(
        std::errc::connection_already_in_progress,
        "the connection from " + info_.remote.to_string() + " has been answered already");
  }
  if (!withdrawn()) return {};
  return verbs::fail(std::errc::connection_reset,
                     info_.remote.to_string() + " has gone before it got an answer");
}

Outcome<void> Incoming::accept(const std::shared_ptr<verbs::provider::Qp>& qp,
                               const verbs::ConnectOptions& options) {
  if (origin_.refuses()) return verbs::refused();
  // A handle shares the ownership of what it points to.
  auto* const own = dynamic_cast<QueuePair*>(qp.get());
  if (own == nullptr || own->host() != host_) {
    return verbs::fail(std::errc::invalid_argument,
                       "the connection from " + info_.remote.to_string() +
                           " cannot be accepted with a queue pair of another device than that of " +
                           adapter().name);
  }
  if (auto there = adapter().check(); !there) return there;
  if (auto checked = check_options(adapter(), options); !checked) return checked;
  if (auto checked = check_unanswered(); !checked) return checked;
  auto accepted = answer_of(adapter(), "the connection cannot be accepted",
                            [&] { return own->connection().accept(id_, info_, options); });
  if (accepted) answered_ = true;
  return accepted;
}

Outcome<void> Incoming::reject(ConstBytes private_data) {
  if (origin_.refuses()) return verbs::refused();
  if (auto checked = check_private_data(adapter(), private_data.size()); !checked) return checked;
  if (auto checked = check_unanswered(); !checked) return checked;
  const int error = answer_no(private_data);
  if (error == 0) return {};
  return failure(adapter().error(
      "the connection from " + info_.remote.to_string() + " cannot be rejected", error));
}

Outcome<void> Incoming::reject_and_keep(ConstBytes /*private_data*/,
                                        verbs::provider::KeptHandler /*handler*/) {
  return verbs::fail(std::errc::not_supported,
                     adapter().name + " has no TCP connections to give back");
}

// What the peer may have under way is what this side is to hold.
ConnectionInfo info_of(const CmId& id, const CmEvent& event) {
  ConnectionInfo info;
  info.local = local_of(id.get());
  info.remote = remote_of(id.get());
  info.private_data = event.private_data;
  info.peer_ord = event.ird;
  info.peer_ird = event.ord;
  info.ird = event.ord;
  info.ord = event.ird;
  info.rfc7306 = false;
  return info;
}

}  // namespace

std::unique_ptr<verbs::provider::IncomingConnection> make_incoming(std::shared_ptr<Host> host,
                                                                   CmId& id, const CmEvent& event) {
  ConnectionInfo info = info_of(id, event);
  return std::make_unique<Incoming>(std::move(host), id, std::move(info));
}

}  // namespace iwarp::rnic
