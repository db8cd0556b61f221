#include "soft/startup/responder/incoming.hpp"

#include <atomic>
#include <new>
#include <utility>

#include "iwarp/process/forks.hpp"
#include "iwarp/provider/inherited.hpp"
#include "soft/startup/error.hpp"
#include "soft/startup/options.hpp"

namespace iwarp::verbs::soft {
namespace {

class Incoming final : public SoftIncoming {
 public:
  Incoming(std::shared_ptr<tcp_offload::Device> device, std::shared_ptr<ResponderSession> session,
           AsResponder as_responder)
      : device_(std::move(device)),
        session_(std::move(session)),
        as_responder_(std::move(as_responder)),
        info_(session_->info()),
        max_private_data_(session_->max_private_data()) {}

  ~Incoming() override {
    if (origin_.inherited()) {
      process::leave_to_parent(std::make_unique<decltype(session_)>(std::move(session_)));
    } else if (claim()) {
      try {
        post_rejection({}, {});
      } catch (const std::bad_alloc&) {
        // The session goes on by itself, and rejects when the time for a decision is over.
      }
    }
  }

  [[nodiscard]] const ConnectionInfo& info() const override { return info_; }
  [[nodiscard]] bool withdrawn() const override { return session_->withdrawn() != nullptr; }
  Outcome<void> accept(const std::shared_ptr<provider::Qp>& qp,
                       const ConnectOptions& options) override;
  Outcome<void> reject(ConstBytes private_data) override {
    if (const Error* why = session_->withdrawn()) return failure(*why);
    return reject_and_keep_connection(private_data, {});
  }
  Outcome<void> reject_and_keep(ConstBytes private_data, provider::KeptHandler handler) override;
  Outcome<void> reject_and_keep_connection(ConstBytes private_data, KeepHandler keep) override;

 private:
  /// True for the one call that may answer.
  bool claim() { return !answered_.exchange(true); }
  [[nodiscard]] Failure<Error> answered_already() const;
  void post_rejection(std::vector<std::byte> private_data, KeepHandler keep);

  const std::shared_ptr<tcp_offload::Device> device_;
  std::shared_ptr<ResponderSession> session_;
  const AsResponder as_responder_;
  const ConnectionInfo info_;
  const std::size_t max_private_data_;
  std::atomic<bool> answered_{false};
  const process::Origin origin_;
};

Outcome<void> Incoming::accept(const std::shared_ptr<provider::Qp>& qp,
                               const ConnectOptions& options) {
  if (origin_.refuses()) return refused();
  auto responder = qp != nullptr ? as_responder_(qp) : nullptr;
  if (responder == nullptr) {
    return fail(std::errc::invalid_argument,
                "the connection from " + to_text(info_.remote) +
                    " cannot be accepted with no queue pair of this device");
  }
  const auto checked = check_options(options, max_private_data_);
  if (!checked) return checked;
  if (const Error* why = session_->withdrawn()) return failure(*why);
  if (!claim()) return answered_already();
  if (!responder->begin_startup()) {
    answered_ = false;
    return fail(std::errc::already_connected,
                "queue pair " + std::to_string(qp->number()) + " is not idle");
  }
  device_->post([session = session_, taker = std::move(responder), options]() mutable {
    session->accept(std::move(taker), std::move(options));
  });
  return {};
}

Outcome<void> Incoming::reject_and_keep(ConstBytes private_data, provider::KeptHandler handler) {
  return reject_and_keep_connection(
      private_data, [handler = std::move(handler)](Outcome<StreamingConnection> kept) {
        if (!kept) return handler(failure(kept.error()));
        auto socket = give_socket(std::move(*kept));
        if (socket) return handler(std::move(socket));
        handler(fail(std::errc::not_supported, "the device has no descriptors to give back"));
      });
}

Outcome<void> Incoming::reject_and_keep_connection(ConstBytes private_data, KeepHandler keep) {
  if (origin_.refuses()) return refused();
  ConnectOptions options;
  options.private_data.assign(private_data.begin(), private_data.end());
  const auto checked = check_options(options, max_private_data_);
  if (!checked) return checked;
  if (!claim()) return answered_already();
  post_rejection(std::move(options.private_data), std::move(keep));
  return {};
}

Failure<Error> Incoming::answered_already() const {
  return fail(std::errc::connection_already_in_progress,
              "the connection from " + to_text(info_.remote) + " has been answered already");
}

void Incoming::post_rejection(std::vector<std::byte> private_data, KeepHandler keep) {
  device_->post(
      [session = session_, data = std::move(private_data), keep = std::move(keep)]() mutable {
        session->reject(std::move(data), std::move(keep));
      });
}

}  // namespace

std::unique_ptr<provider::IncomingConnection> make_incoming(
    std::shared_ptr<tcp_offload::Device> device, std::shared_ptr<ResponderSession> session,
    const AsResponder& as_responder) {
  return std::make_unique<Incoming>(std::move(device), std::move(session), as_responder);
}

}  // namespace iwarp::verbs::soft
