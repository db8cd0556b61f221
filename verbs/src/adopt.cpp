#include <future>

#include "event_box.hpp"
#include "iwarp/verbs/verbs.hpp"
#include "outcome_wait.hpp"
#include "patient_wait.hpp"

/// Connections over which a program has spoken another protocol before.
namespace iwarp::verbs {
namespace {

// How long the provider takes to send a rejection, at most.
constexpr std::chrono::milliseconds kRejectTimeout = std::chrono::seconds(10);

// What a handler will get, for a thread that waits; whichever of the two is the last frees it.
template <typename T>
class Promised {
 public:
  [[nodiscard]] std::function<void(Outcome<T>)> handler() const {
    return [promise = promise_](Outcome<T> outcome) { promise->set_value(std::move(outcome)); };
  }
  Outcome<T> wait(std::chrono::milliseconds timeout, const char* what_is_late) {
    const bool kept = wait_patiently(outcome_wait(timeout), [this](auto step) {
      return future_.wait_for(step) == std::future_status::ready;
    });
    if (!kept) return fail(std::errc::timed_out, what_is_late);
    return future_.get();
  }

 private:
  std::shared_ptr<std::promise<Outcome<T>>> promise_ = std::make_shared<std::promise<Outcome<T>>>();
  std::future<Outcome<T>> future_ = promise_->get_future();
};

}  // namespace

Outcome<ConnectionInfo> QueuePair::adopt(StreamingSocket& socket, const ConnectOptions& options) {
  if (events_->refuses()) {
    return fail(std::errc::no_such_device, "the queue pair was inherited by fork");
  }
  events_->want_socket(true);
  if (auto started = core_->adopt(socket, options); !started) {
    events_->want_socket(false);
    return failure(started.error());
  }
  auto outcome = events_->wait_established(outcome_wait(options.timeout));
  if (const auto kept = events_->take_socket()) socket = std::move(*kept);
  if (outcome) return std::move(*outcome);
  core_->abort();
  return fail(std::errc::timed_out, "the connection was not established in time");
}

Outcome<void> QueuePair::start_adopt(StreamingSocket& socket, const ConnectOptions& options) {
  return core_->adopt(socket, options);
}

Outcome<void> ConnectionRequest::start_accept(QueuePair& qp, const ConnectOptions& options) {
  return core_->accept(qp.core_, options);
}

Outcome<StreamingSocket> ConnectionRequest::reject_and_keep(ConstBytes private_data) {
  Promised<StreamingSocket> kept;
  if (auto started = core_->reject_and_keep(private_data, kept.handler()); !started) {
    return failure(started.error());
  }
  return kept.wait(kRejectTimeout, "the rejection was not sent in time");
}

Outcome<RequestWait> Device::start_await_request(StreamingSocket& socket,
                                                 const AwaitOptions& options,
                                                 RequestHandler handler) {
  auto core = core_->await_request(
      socket, options,
      [handler = std::move(handler)](Outcome<std::unique_ptr<provider::IncomingConnection>> came) {
        if (!came) return handler(failure(came.error()));
        handler(ConnectionRequest(std::move(*came)));
      });
  if (!core) return failure(core.error());
  return RequestWait(std::move(*core));
}

Outcome<ConnectionRequest> Device::await_request(StreamingSocket& socket,
                                                 const AwaitOptions& options) {
  Promised<ConnectionRequest> request;
  const auto wait = start_await_request(socket, options, request.handler());
  if (!wait) return failure(wait.error());
  return request.wait(options.timeout, "the MPA request did not come in time");
}

}  // namespace iwarp::verbs
