#include "soft/startup/responder/responder_session.hpp"

#include <utility>

#include "iwarp/provider/failure.hpp"
#include "iwarp/tcp_offload/capture.hpp"
#include "soft/mpa_offload.hpp"
#include "soft/startup/close.hpp"
#include "soft/startup/error.hpp"
#include "soft/startup/options.hpp"

namespace iwarp::verbs::soft {
namespace {

constexpr std::chrono::milliseconds kRejectTimeout = std::chrono::seconds(10);

}  // namespace

ResponderSession::ResponderSession(tcp_offload::Device& device,
                                   std::unique_ptr<tcp_offload::Connection> connection,
                                   RequestSink& sink, std::optional<Liveness> liveness)
    : device_(device),
      sink_(sink),
      local_(connection->local()),
      remote_(connection->remote()),
      liveness_(liveness),
      connection_(std::move(connection)),
      timer_(device) {}

void ResponderSession::start(std::chrono::milliseconds timeout, StreamingStart streaming) {
  wait_up_to(timeout);
  streaming_ = std::move(streaming);
  if (streaming_.last_message.empty()) return take(streaming_.already_read, {});
  connection_->async_write(streaming_.last_message, [this](std::error_code error, std::size_t) {
    attempt([&] { error ? on_lost(error) : take(streaming_.already_read, {}); });
  });
}

template <typename Step>
void ResponderSession::attempt(Step step) {
  const auto self = shared_from_this();
  try {
    step();
  } catch (const std::exception& thrown) {
    give_up(thrown);
  }
}

void ResponderSession::give_up(const std::exception& thrown) {
  if (phase_ == Phase::kOver) throw;  // it has been told how it ended
  Error why = short_error_of(thrown, [this] { return what_failed(); });
  if (!failure_.code) failure_.code = why.code;
  if (failure_.message.empty()) failure_.message = "out of memory";  // which takes none
  if (phase_ == Phase::kDeciding) withdrawn_.store(true);
  end(std::move(why));
}

void ResponderSession::make_room() {
  failure_ = {std::make_error_code(std::errc::connection_aborted),
              what_failed() + ": no whole MPA request had come when others needed its place"};
  end(failure_);
}

ConnectionInfo ResponderSession::info() const {
  ConnectionInfo info = info_of(*responder_.request());
  info.local = local_;
  info.remote = remote_;
  return info;
}

void ResponderSession::wait_up_to(std::chrono::milliseconds timeout) {
  timer_->start(bounded(timeout), [this] { attempt([this] { on_timeout(); }); });
}

void ResponderSession::stay_up_to(std::chrono::milliseconds timeout) {
  timer_->start(bounded(timeout),
                [self = shared_from_this()] { self->attempt([&] { self->on_timeout(); }); });
}

// Reading goes on while the user decides: that is how the end of the connection is noticed, and
// octets that the peer must not send before it has seen the Reply.
void ResponderSession::read() {
  connection_->async_read_some(scratch_, [this](std::error_code error, std::size_t n) {
    attempt([&] { take(ConstBytes(scratch_).first(n), error); });
  });
}

void ResponderSession::take(ConstBytes octets, std::error_code error) {
  responder_.receive(octets);
  const bool cancelled = phase_ == Phase::kAnswering && error == std::errc::operation_canceled;
  if (error && !cancelled) {
    lost_ = error;
    responder_.on_closed();
  }
  switch (responder_.state()) {
    case mpa::ResponderState::kAwaitingRequest: return read();
    case mpa::ResponderState::kDeciding: return phase_ == Phase::kAnswering ? answer() : decide();
    default: return fail(responder_.error());
  }
}

void ResponderSession::decide() {
  phase_ = Phase::kDeciding;
  stay_up_to(kDecisionTimeout);
  read();
  sink_.on_request(*this);
}

void ResponderSession::accept(std::shared_ptr<ResponderQp> qp, ConnectOptions options) {
  if (phase_ != Phase::kDeciding) return qp->finish_startup(failure_);
  qp_ = std::move(qp);
  attempt([&] {
    tcp_offload::begin_capture(*connection_, qp_->capture());
    options_ = std::move(options);
    answer_after_reading(options_.timeout);
  });
}

void ResponderSession::reject(std::vector<std::byte> private_data, KeepHandler keep) {
  if (phase_ != Phase::kDeciding) {
    if (keep) keep(iwarp::failure(failure_));
    return;
  }
  keep_ = std::move(keep);
  options_.private_data = std::move(private_data);
  attempt([&] { answer_after_reading(kRejectTimeout); });
}

void ResponderSession::answer_after_reading(std::chrono::milliseconds timeout) {
  phase_ = Phase::kAnswering;
  stay_up_to(timeout);
  connection_->cancel();
}

void ResponderSession::answer() {
  mpa::RejectOptions rejection;
  rejection.private_data = options_.private_data;
  const auto answer =
      qp_ != nullptr ? responder_.accept(accept_options(options_)) : responder_.reject(rejection);
  if (!answer) return fail(answer.error());
  connection_->async_write(answer->reply,
                           [this, agreed = answer->agreed](std::error_code error, std::size_t) {
                             attempt([&] { error ? on_lost(error) : on_written(agreed); });
                           });
}

void ResponderSession::on_written(const std::optional<mpa::Agreed>& agreed) {
  if (agreed) return enter_rdma_mode(*agreed);
  // There is a queue pair to be told if it was not the program that rejected.
  Error why = mpa_error(what_failed(), mpa::Error::kInsufficientIrd);
  if (keep_ || options_.after_rejection == AfterRejection::kGiveBack) {
    return give_back(std::move(why));
  }
  close_gently(device_, std::move(connection_));
  end(std::move(why));
}

// Nothing is read while the answer goes out: what the peer says to it is left in the connection.
void ResponderSession::give_back(Error why) {
  StartupRejected rejected;
  rejected.kept.connection = std::move(connection_);
  rejected.refused_here = std::move(why);
  end(std::move(rejected));
}

void ResponderSession::enter_rdma_mode(const mpa::Agreed& agreed) {
  RdmaMode mode;
  mode.role = Role::kResponder;
  mode.agreed = agreed;
  mode.info = info_of(agreed, responder_.request()->private_data);
  mode.info.rfc7306 = options_.rfc7306;
  mode.info.local = local_;
  mode.info.remote = remote_;
  mode.liveness = liveness_;
  mode.offloads = device_.offloads();
  mode.stream = connection_->hand_over({}, mpa_terms(agreed.modes));
  if (mode.stream == nullptr) return fail(mpa::Error::kLocalCatastrophic);
  end(std::move(mode));
}

void ResponderSession::on_timeout() {
  if (phase_ != Phase::kDeciding) return fail(mpa::Error::kTimeout);
  failure_ = Error{std::make_error_code(std::errc::timed_out),
                   what_failed() + ": it was not answered in time"};
  withdrawn_.store(true);
  reject({});
}

void ResponderSession::on_lost(std::error_code error) {
  lost_ = error;
  fail(mpa::Error::kConnectionLost);
}

void ResponderSession::fail(mpa::Error reason) {
  if (!failure_.code) {
    failure_ = reason == mpa::Error::kConnectionLost ? stream_error(what_failed(), lost_)
                                                     : mpa_error(what_failed(), reason);
  }
  if (phase_ == Phase::kDeciding) withdrawn_.store(true);
  end(failure_);
}

void ResponderSession::end(StartupResult result) {
  const auto self = shared_from_this();
  const bool requested = phase_ != Phase::kRequest;
  phase_ = Phase::kOver;
  connection_.reset();
  timer_.reset();
  if (!requested) return sink_.on_no_request(*this);
  report(std::move(result));
}

void ResponderSession::report(StartupResult result) {
  const auto qp = std::move(qp_);
  if (qp != nullptr) return qp->finish_startup(std::move(result));
  const auto keep = std::move(keep_);
  if (!keep) return;
  if (auto* rejected = std::get_if<StartupRejected>(&result)) {
    return keep(std::move(rejected->kept));
  }
  keep(iwarp::failure(std::get<Error>(std::move(result))));
}

std::string ResponderSession::what_failed() const {
  return "accepting the connection from " + to_text(remote_) + " failed";
}

}  // namespace iwarp::verbs::soft
