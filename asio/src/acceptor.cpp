#include "iwarp/asio/acceptor.hpp"

#include <utility>

#include "connection_core.hpp"
#include "iwarp/verbs/log.hpp"
#include "make_shared_here.hpp"
#include "throw_error.hpp"

namespace iwarp::asio {
namespace detail {

using boost::asio::error::operation_aborted;

/// What stands behind an acceptor: an async_accept that waits for a request, or the other way
/// round; the requests are the listener's.
class acceptor_core : public dependent, public std::enable_shared_from_this<acceptor_core> {
 public:
  explicit acceptor_core(std::shared_ptr<device_core> device) : device_(std::move(device)) {}
  ~acceptor_core() override { device_->remove(*this); }

  void attach(const endpoint& at, listen_options options) {
    options.on_waiting = [link = weak_from_this(), told = std::move(options.on_waiting)] {
      if (const auto self = link.lock()) self->on_waiting();
      if (told) told();
    };
    const session held(*this);  // a peer may come at once
    listener_.emplace(value_or_throw(device_->device().listen(at, options)));
    endpoint_ = listener_->endpoint();
    device_->add(*this, weak_from_this());
  }

  [[nodiscard]] endpoint local() const { return endpoint_; }

  void request(operation<connection_request>& operation) {
    if (device_->refuses()) return operation.complete(no_device());
    const session held(*this);
    if (!listener_) return complete(operation, boost::asio::error::bad_descriptor);
    if (auto request = next()) {
      give(operation, std::move(request));
    } else {
      waits_.push_back(operation);
    }
  }

  [[nodiscard]] std::uint32_t cancels() const { return cancels_.load(); }

  void cancel_all() {
    cancels_.fetch_add(1);
    if (device_->inherited()) return;
    const session held(*this);
    while (operation_base* wait = waits_.pop_front()) complete(*wait, operation_aborted);
  }

  void close() {
    if (device_->inherited()) return;
    cancel_all();
    std::optional<verbs::Listener> listener;  // destroyed without the lock
    const session held(*this);
    listener.swap(listener_);
  }

  void cancel(operation_base& operation, cancel_scope /*scope*/) override {
    if (device_->refuses()) return;
    const session held(*this);
    if (!waits_.contains(operation)) return;
    waits_.erase(operation);
    complete(operation, operation_aborted);
  }

  void shut_down() override {
    operation_list waits;
    {
      const session held(*this);
      give_up(waits);
    }
    while (operation_base* wait = waits.pop_front()) wait->destroy();
    close();
  }

  void give_up(operation_list& to) override {
    while (operation_base* wait = waits_.pop_front()) to.push_back(*wait);
  }

 private:
  void on_waiting() {
    const session held(*this);
    if (!listener_ || waits_.empty()) return;
    auto request = next();
    if (!request) return;  // it has gone again, or another operation has it
    give(static_cast<operation<connection_request>&>(*waits_.pop_front()), std::move(request));
  }

  std::unique_ptr<verbs::ConnectionRequest> next() {
    auto waiting = listener_->next(std::chrono::milliseconds(0));
    return waiting ? std::make_unique<verbs::ConnectionRequest>(std::move(*waiting)) : nullptr;
  }

  void give(operation<connection_request>& to, std::unique_ptr<verbs::ConnectionRequest> request) {
    to.result = connection_request(std::move(request));
    complete(to, {});
  }

  const std::shared_ptr<device_core> device_;
  std::atomic<std::uint32_t> cancels_{0};
  endpoint endpoint_;
  // In a session only.
  std::optional<verbs::Listener> listener_;
  operation_list waits_;
};

/// The wait for a request on an adopted connection.
class awaited_core : public dependent, public std::enable_shared_from_this<awaited_core> {
 public:
  explicit awaited_core(std::shared_ptr<device_core> device) : device_(std::move(device)) {}
  ~awaited_core() override { device_->remove(*this); }

  void start(operation<connection_request>& operation, verbs::StreamingSocket& socket,
             const verbs::AwaitOptions& options) {
    if (device_->refuses()) return operation.complete(no_device());
    device_->add(*this, weak_from_this());
    std::shared_ptr<awaited_core> last;
    const session held(*this);
    operation_ = &operation;
    self_ = shared_from_this();
    auto wait = device_->device().start_await_request(
        socket, options, [link = weak_from_this()](verbs::Outcome<verbs::ConnectionRequest> came) {
          if (const auto self = link.lock()) self->on_request(std::move(came));
        });
    if (wait) {
      wait_.emplace(std::move(*wait));
    } else {
      last = end(to_error_code(wait.error().code));
    }
  }

  void cancel(operation_base& operation, cancel_scope /*scope*/) override {
    if (device_->refuses()) return;
    std::optional<verbs::RequestWait> wait;  // destroyed without the lock
    std::shared_ptr<awaited_core> last;
    const session held(*this);
    if (operation_ != &operation) return;
    wait.swap(wait_);
    last = end(operation_aborted);
  }

  void shut_down() override {
    std::optional<verbs::RequestWait> wait;
    std::shared_ptr<awaited_core> last;
    operation_list operations;
    {
      const session held(*this);
      wait.swap(wait_);
      last = std::move(self_);
      give_up(operations);
    }
    while (operation_base* one = operations.pop_front()) one->destroy();
  }

  void give_up(operation_list& to) override {
    if (operation_ != nullptr) to.push_back(*std::exchange(operation_, nullptr));
  }

 private:
  void on_request(verbs::Outcome<verbs::ConnectionRequest> came) {
    std::shared_ptr<awaited_core> last;
    const session held(*this);
    if (operation_ == nullptr) return;
    error_code error;
    if (came) {
      operation_->result =
          connection_request(std::make_unique<verbs::ConnectionRequest>(std::move(*came)));
    } else {
      verbs::log(verbs::LogLevel::kWarn, came.error().message);
      error = to_error_code(came.error().code);
    }
    last = end(error);
  }

  std::shared_ptr<awaited_core> end(error_code error) {
    complete(*std::exchange(operation_, nullptr), error);
    return std::move(self_);
  }

  const std::shared_ptr<device_core> device_;
  // In a session only.
  operation<connection_request>* operation_ = nullptr;
  std::optional<verbs::RequestWait> wait_;
  std::shared_ptr<awaited_core> self_;  // while an operation waits
};

void start_request(acceptor_core& core, operation<connection_request>& operation) {
  core.request(operation);
}

void start_request(awaited_core& core, operation<connection_request>& operation,
                   verbs::StreamingSocket& socket, const verbs::AwaitOptions& options) {
  core.start(operation, socket, options);
}

std::uint32_t cancels_of(const acceptor_core& core) { return core.cancels(); }

std::weak_ptr<canceller> link_of(const std::shared_ptr<acceptor_core>& core) { return core; }
std::weak_ptr<canceller> link_of(const std::shared_ptr<awaited_core>& core) { return core; }

std::shared_ptr<awaited_core> make_awaited(device& on) {
  return make_shared_here<awaited_core>(on.core_);
}

}  // namespace detail

// ---- Requests ----

connection_request::connection_request() = default;
connection_request::~connection_request() = default;
connection_request::connection_request(connection_request&&) noexcept = default;
connection_request& connection_request::operator=(connection_request&&) noexcept = default;
connection_request::connection_request(std::unique_ptr<verbs::ConnectionRequest> request)
    : request_(std::move(request)) {}

const connection_info& connection_request::info() const { return request_->info(); }

error_code connection_request::reject(boost::asio::const_buffer private_data) {
  const auto request = std::move(request_);
  if (!request) return boost::asio::error::already_started;
  const auto done =
      request->reject({static_cast<const std::byte*>(private_data.data()), private_data.size()});
  return done ? error_code() : detail::to_error_code(done.error().code);
}

std::shared_ptr<verbs::ConnectionRequest> connection_request::take() { return std::move(request_); }

void connection_request::accept(detail::connection_core& core,
                                detail::operation<detail::nothing>& operation,
                                verbs::ConnectionRequest& request,
                                const verbs::ConnectOptions& options) {
  core.accept(operation, request, options);
}

verbs::AwaitOptions await_options::to_verbs() const {
  const auto* octets = static_cast<const std::byte*>(last_message.data());
  return {{octets, octets + last_message.size()}, timeout};
}

// ---- Acceptors ----

acceptor::acceptor(any_io_executor executor, device& of, const endpoint& at,
                   const listen_options& options)
    : executor_(std::move(executor)),
      core_(detail::make_shared_here<detail::acceptor_core>(of.core_)) {
  core_->attach(at, options);
}

acceptor::~acceptor() {
  if (core_) core_->close();
}
// The executor stays: what is started on an acceptor that was moved from fails on it.
acceptor::acceptor(acceptor&& other) noexcept
    : executor_(other.executor_), core_(std::move(other.core_)) {}
acceptor& acceptor::operator=(acceptor&& other) noexcept {
  if (core_ && core_ != other.core_) core_->close();
  executor_ = other.executor_;
  core_ = std::move(other.core_);
  return *this;
}

endpoint acceptor::local_endpoint() const { return core_->local(); }
void acceptor::cancel() {
  if (core_) core_->cancel_all();
}
void acceptor::close() {
  if (core_) core_->close();
}

}  // namespace iwarp::asio
