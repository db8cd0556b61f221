#include "connection_core.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <utility>

#include "throw_error.hpp"

namespace iwarp::asio::detail {

using boost::asio::error::operation_aborted;

connection_core::connection_core(std::shared_ptr<domain_core> in, std::shared_ptr<pool_core> pool,
                                 const connection_options& options)
    : domain_(std::move(in)),
      pool_(std::move(pool)),
      options_(options),
      max_inline_(
          std::min(options.max_inline, domain_->device()->device().attributes().max_inline)) {
  if (pool_ && pool_->domain_of() != domain_) {
    throw boost::system::system_error(make_error_code(errc::invalid_request),
                                      "message pool: of another domain than the connection");
  }
}

void connection_core::attach() {
  verbs::QpOptions wanted;
  wanted.capacity = {.max_send_wr = options_.max_sends,
                     .max_recv_wr = options_.max_receives,
                     .max_send_sge = options_.max_buffers,
                     .max_recv_sge = options_.max_buffers,
                     .max_inline = max_inline_};
  wanted.signaling = verbs::Signaling::kAll;
  wanted.srq = pool_ ? &pool_->queue() : nullptr;
  wanted.source_buffers = options_.source_buffers;
  wanted.max_fpdu = options_.max_fpdu;
  wanted.liveness = options_.liveness;
  if (options_.capture != nullptr) wanted.capture = options_.capture;
  wanted.on_event = [link = weak_from_this()](const verbs::ConnectionEvent& event) {
    if (const auto self = link.lock()) self->on_event(event);
  };
  device_core& device = *domain_->device();
  auto made = value_or_throw(domain_->pd().create_qp(device.queue(), std::move(wanted)));
  // A shared receive completes there too, but that room is the pool's.
  device.add_room(options_.max_sends + options_.max_receives);
  qp_.emplace(std::move(made));
  device.add_connection(qp_->number(), weak_from_this());
  device.add(*this, weak_from_this());
}

connection_core::~connection_core() {
  device_core& device = *domain_->device();
  device.remove(*this);
  if (!qp_) return;
  device.remove_connection(qp_->number());
  device.remove_room(options_.max_sends + options_.max_receives);
}

// ---- Start ----

template <typename Start>
void connection_core::start_up(operation<nothing>& operation, Start start) {
  if (refuses()) return operation.complete(no_device());
  const session held(*this);
  if (closed_) return complete(operation, operation_aborted);
  if (stage_ == stage::over) {
    note(name() + ": it is over, and not started again: make another one");
    return complete(operation, errc::not_connected);
  }
  if (stage_ != stage::fresh) return complete(operation, boost::asio::error::already_connected);
  stage_ = stage::connecting;
  start_up_ = &operation;
  const verbs::Outcome<void> started = start();
  if (started) return;
  stage_ = stage::over;
  note_end(started.error().message);
  const error_code error = to_error_code(started.error().code);
  complete(*std::exchange(start_up_, nullptr), error);
  // Receives may have been posted.
  end_waits(error);
  qp_->abort();
}

void connection_core::connect(operation<nothing>& operation, const endpoint& to,
                              const verbs::ConnectOptions& options) {
  start_up(operation, [&] { return qp_->start_connect(to, options); });
}

void connection_core::adopt(operation<nothing>& operation, verbs::StreamingSocket& socket,
                            const verbs::ConnectOptions& options) {
  start_up(operation, [&] { return qp_->start_adopt(socket, options); });
}

void connection_core::accept(operation<nothing>& operation, verbs::ConnectionRequest& request,
                             const verbs::ConnectOptions& options) {
  start_up(operation, [&] { return request.start_accept(*qp_, options); });
}

// ---- What the device tells, on a thread of its own ----

void connection_core::on_event(const verbs::ConnectionEvent& event) {
  using kind = verbs::ConnectionEvent::Kind;
  switch (event.kind) {
    case kind::kEstablished: return on_established(event);
    case kind::kRejected:
    case kind::kFailed: return on_failed(event);
    case kind::kDisconnected: return on_disconnected();
  }
}

void connection_core::on_established(const verbs::ConnectionEvent& event) {
  const session held(*this);
  info_ = event.info;
  if (closed_) return;
  stage_ = stage::open;
  if (auto* told = std::exchange(start_up_, nullptr)) complete(*told, {});
}

void connection_core::on_failed(const verbs::ConnectionEvent& event) {
  const session held(*this);
  stage_ = stage::over;
  info_ = event.info;
  error_code error = to_error_code(event.error.code);
  if (event.kind == verbs::ConnectionEvent::Kind::kRejected) error = errc::rejected;
  if (given_up_) error = operation_aborted;
  if (!given_up_) note_end(event.error.message);
  if (auto* told = std::exchange(start_up_, nullptr)) complete(*told, error);
  end_waits(error);
}

// What came before the end is told before it: completions are in the queue by now.
void connection_core::on_disconnected() {
  domain_->device()->poll_all();
  std::shared_ptr<connection_core> last;  // destroyed without the lock
  const session held(*this);
  last = std::move(self_);
  stage_ = stage::over;
  const error_code error = end_error();
  if (auto* told = std::exchange(start_up_, nullptr)) complete(*told, error);
  end_waits(error);
}

// Of a connection that is over: those for messages, for the end, for a place in a queue.
void connection_core::end_waits(error_code error) {
  end_list(shutdowns_, error == boost::asio::error::eof ? error_code() : error);
  while (auto* wait = message_waits_.pop_front()) {
    end(static_cast<operation<message>&>(*wait), error);
  }
  end_pending(pending_sends_, error);
  end_pending(pending_receives_, error);
}

void connection_core::end_list(operation_list& list, error_code error) {
  while (operation_base* one = list.pop_front()) complete(*one, error);
}

void connection_core::end_pending(operation_list& list, error_code error) {
  while (operation_base* one = list.pop_front()) end(static_cast<posted_base&>(*one), error);
}

// ---- End ----

void connection_core::shutdown(operation<nothing>& operation) {
  if (refuses()) return operation.complete(no_device());
  const session held(*this);
  if (closed_) return complete(operation, operation_aborted);
  if (stage_ == stage::over) {
    const error_code error = end_error();
    return complete(operation, error == boost::asio::error::eof ? error_code() : error);
  }
  if (stage_ != stage::open) return complete(operation, errc::not_connected);
  shutdowns_.push_back(operation);
  // What waits for room in the queue is still to be sent.
  if (pending_sends_.empty()) qp_->disconnect();
}

// Memory of requests that the device has stays in use until they have been flushed, so that they
// end a little later than the others. What has completed still arrives: the queue pair is kept
// until then.
void connection_core::close() {
  if (domain_->device()->inherited()) return;
  begin_to_close();
  dropped_.clear();  // without the lock
}

void connection_core::begin_to_close() {
  const session held(*this);
  if (std::exchange(closed_, true)) return;
  given_up_ = true;
  dropped_.swap(messages_);
  if (auto* told = std::exchange(start_up_, nullptr)) complete(*told, operation_aborted);
  end_list(shutdowns_, operation_aborted);
  end_waits(operation_aborted);
  if (stage_ == stage::over || !qp_) return;
  if (stage_ == stage::open) self_ = shared_from_this();
  qp_->close();
}

void connection_core::cancel_waiting() {
  if (refuses()) return;
  const session held(*this);
  if (auto* told = std::exchange(start_up_, nullptr)) {
    given_up_ = true;
    qp_->abort();
    complete(*told, operation_aborted);
  }
  end_list(shutdowns_, operation_aborted);
  end_waits(operation_aborted);
}

void connection_core::cancel(operation_base& operation, cancel_scope scope) {
  if (refuses()) return;
  const session held(*this);
  const auto take_from = [&operation](operation_list& list) {
    const bool found = list.contains(operation);
    if (found) list.erase(operation);
    return found;
  };
  if (&operation == start_up_) {
    start_up_ = nullptr;
    given_up_ = true;
    qp_->abort();
    complete(operation, operation_aborted);
  } else if (take_from(shutdowns_)) {
    complete(operation, operation_aborted);
  } else if (take_from(message_waits_)) {
    end(static_cast<detail::operation<message>&>(operation), operation_aborted);
  } else if (take_from(pending_sends_) || take_from(pending_receives_)) {
    end(static_cast<posted_base&>(operation), operation_aborted);
  } else if (scope == cancel_scope::terminal && posted_.contains(operation)) {
    given_up_ = true;
    qp_->close();
  }
}

// Once it has done so, nothing names any of them but what only the parent has.
void connection_core::give_up(operation_list& to) {
  if (start_up_ != nullptr) to.push_back(*std::exchange(start_up_, nullptr));
  for (operation_list* list :
       {&shutdowns_, &message_waits_, &pending_sends_, &pending_receives_, &posted_}) {
    while (operation_base* one = list->pop_front()) to.push_back(*one);
  }
}

void connection_core::shut_down() {
  operation_list all;
  std::array<std::shared_ptr<connection_core>, 2> owners;
  {
    const session held(*this);
    closed_ = given_up_ = true;
    if (qp_) qp_->close();  // the device sees it off when this has gone
    dropped_.swap(messages_);
    give_up(all);
    owners[0] = std::move(self_);
  }
  // Handlers may own connections: this one too.
  owners[1] = shared_from_this();
  while (operation_base* one = all.pop_front()) one->destroy();
  dropped_.clear();
}

// ---- What is known ----

bool connection_core::is_open() const {
  if (domain_->device()->inherited()) return false;
  const session held(*this);
  return stage_ == stage::open && !is_over();
}

connection_info connection_core::info() const {
  if (domain_->device()->inherited()) return {};
  const session held(*this);
  return info_;
}

}  // namespace iwarp::asio::detail
