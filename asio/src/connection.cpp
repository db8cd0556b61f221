#include "iwarp/asio/connection.hpp"

#include <unistd.h>

#include "connection_core.hpp"
#include "make_shared_here.hpp"
#include "throw_error.hpp"

namespace iwarp::asio {
namespace detail {
namespace {

std::shared_ptr<pool_core> own_pool(domain& in, const connection_options& options) {
  if (options.message_count == 0) return nullptr;
  auto pool = make_shared_here<pool_core>(
      in,
      message_pool_options{.count = options.message_count, .message_size = options.message_size});
  pool->attach();
  return pool;
}

}  // namespace

verbs::StreamingSocket release(boost::asio::ip::tcp::socket socket,
                               std::vector<std::byte> already_read) {
  error_code error;
  const int descriptor = socket.release(error);
  return verbs::StreamingSocket(error ? -1 : descriptor, std::move(already_read));
}

std::weak_ptr<canceller> link_of(const std::shared_ptr<connection_core>& core) { return core; }

void start_connect(connection_core& core, operation<nothing>& operation, const endpoint& to,
                   const verbs::ConnectOptions& options) {
  core.connect(operation, to, options);
}
void start_adopt(connection_core& core, operation<nothing>& operation,
                 verbs::StreamingSocket& socket, const verbs::ConnectOptions& options) {
  core.adopt(operation, socket, options);
}
void start_shutdown(connection_core& core, operation<nothing>& operation) {
  core.shutdown(operation);
}
void start_message(connection_core& core, operation<message>& operation) {
  core.receive(operation);
}
void start_receive(connection_core& core, posted<received>& operation, const buffer_list& into) {
  operation.request.local = into;
  core.receive(operation);
}
void start_request(connection_core& core, posted<nothing>& operation, const send_request& request) {
  operation.request = request;
  core.request(operation);
}
void start_atomic(connection_core& core, posted<std::uint64_t>& operation,
                  const send_request& request) {
  operation.request = request;
  core.atomic(operation);
}
void start_bind(connection_core& core, posted<remote_buffer>& operation, const binding& what) {
  operation.request.opcode = verbs::Opcode::kBindWindow;
  operation.bind = what.request;
  operation.window_domain = what.domain;
  operation.result = what.result;
  core.request(operation);
}

}  // namespace detail

verbs::ConnectOptions connect_options::to_verbs() const {
  const auto* octets = static_cast<const std::byte*>(private_data.data());
  verbs::ConnectOptions options;
  options.private_data.assign(octets, octets + private_data.size());
  options.ird = ird;
  options.ord = ord;
  options.mpa_revision = mpa_revision;
  options.peer_to_peer = peer_to_peer;
  options.require_crc = require_crc;
  options.want_markers = want_markers;
  options.rfc7306 = rfc7306;
  options.fall_back = fall_back;
  options.from = from;
  options.retry_refused = retry_refused;
  options.timeout = timeout;
  return options;
}

connection::connection() = default;

connection::connection(any_io_executor executor, domain& in, const connection_options& options)
    : executor_(std::move(executor)),
      core_(detail::make_shared_here<detail::connection_core>(
          in.core_, options.messages ? options.messages->core_ : detail::own_pool(in, options),
          options)) {
  core_->attach();
}

connection::~connection() {
  if (core_) core_->close();
}

// The executor stays: what is started on a connection that was moved from fails on it.
connection::connection(connection&& other) noexcept
    : executor_(other.executor_), core_(std::move(other.core_)) {}

connection& connection::operator=(connection&& other) noexcept {
  if (core_ && core_ != other.core_) core_->close();
  executor_ = other.executor_;
  core_ = std::move(other.core_);
  return *this;
}

void connection::close() {
  if (core_) core_->close();
}
void connection::cancel() {
  if (core_) core_->cancel_waiting();
}
bool connection::is_open() const { return core_ && core_->is_open(); }
connection_info connection::info() const { return core_->info(); }
std::string connection::why() const { return core_ ? core_->why() : std::string(); }
std::string connection::last_failure() const {
  return core_ ? core_->last_failure() : std::string();
}
verbs::Diagnosis connection::diagnosis() const { return core_->qp().diagnosis(); }
verbs::QpCounters connection::counters() const { return core_->qp().counters(); }
verbs::QueuePair& connection::native_handle() { return core_->qp(); }
std::size_t connection::poll_for(std::chrono::nanoseconds duration) {
  return core_->domain_of()->device()->poll_for(duration);
}

}  // namespace iwarp::asio
