#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <cstdio>

#include "connection_core.hpp"
#include "iwarp/verbs/log.hpp"

/// What went wrong, as an error code and in words.
namespace iwarp::asio::detail {

using boost::asio::error::operation_aborted;

namespace {

const char* name_of(const posted_base& operation) {
  if (operation.in == posted_base::queue::receive) return "receive";
  switch (operation.request.opcode) {
    case verbs::Opcode::kSend: return "Send";
    case verbs::Opcode::kSendInvalidate: return "Send with Invalidate";
    case verbs::Opcode::kWrite: return "RDMA Write";
    case verbs::Opcode::kRead: return "RDMA Read";
    case verbs::Opcode::kImmediate: return "Immediate Data";
    case verbs::Opcode::kWriteImmediate: return "RDMA Write with immediate";
    case verbs::Opcode::kFetchAdd: return "FetchAdd";
    case verbs::Opcode::kCmpSwap: return "CmpSwap";
    case verbs::Opcode::kBindWindow: return "binding of a window";
    case verbs::Opcode::kInvalidate: return "invalidation";
    case verbs::Opcode::kRegister: return "registration";
  }
  return "request";
}

// The peer's memory in a sentence.
std::string to_text(const remote_buffer& buffer) {
  std::array<char, 96> text;
  const int size = std::snprintf(text.data(), text.size(), "STag 0x%08x, Tagged Offset 0x%llx",
                                 static_cast<unsigned>(buffer.stag.value()),
                                 static_cast<unsigned long long>(buffer.offset));
  return {text.data(), static_cast<std::size_t>(size)};
}

bool names_peers_memory(const posted_base& operation) {
  return operation.in == posted_base::queue::send && operation.request.remote.stag != Stag{};
}

// A Terminate as a value that is never 0, which would be success.
int value_of(const verbs::TerminateInfo& cause) {
  return 1 << 24 | int{cause.layer} << 16 | int{cause.type} << 8 | int{cause.code};
}

errc code_of(verbs::Status status) {
  switch (status) {
    case verbs::Status::kLocalLengthError: return errc::message_too_long;
    case verbs::Status::kLocalProtectionError: return errc::not_registered;
    case verbs::Status::kWindowBindError: return errc::window_bind;
    case verbs::Status::kRemoteInvalidRequest: return errc::remote_invalid_request;
    case verbs::Status::kRemoteAccessError: return errc::remote_access;
    case verbs::Status::kRemoteOperationError: return errc::remote_operation;
    default: return errc::local_queue_pair;
  }
}

std::uint64_t length_of(const buffer_list& buffers) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) length += buffers[i].size();
  return length;
}

}  // namespace

std::string connection_core::name() const {
  return "connection (queue pair " + std::to_string(qp_->number()) + ")";
}

// The first failure is the one that explains the others. The log has them all.
void connection_core::note(std::string sentence) {
  verbs::log(verbs::LogLevel::kWarn, sentence);
  if (first_failure_.empty()) first_failure_ = std::move(sentence);
}

error_code connection_core::refuse(errc code, const posted_base& operation,
                                   const std::string& sentence) {
  note(name() + ": " + name_of(operation) + ": " + sentence);
  return code;
}

// What the device would not say, or only by ending the connection.
error_code connection_core::check(const posted_base& operation) {
  const send_request& request = operation.request;
  const bool receive = operation.in == posted_base::queue::receive;
  if ((receive ? options_.max_receives : options_.max_sends) == 0) {
    return refuse(errc::invalid_request, operation,
                  receive ? "the connection was made with max_receives 0"
                          : "the connection was made with max_sends 0");
  }
  if (receive && pool_) {
    return refuse(errc::has_message_pool, operation,
                  "the connection receives into its message pool");
  }
  if (request.local.size() > std::min<std::size_t>(options_.max_buffers, buffer_list::kMax)) {
    return refuse(errc::too_many_buffers, operation,
                  std::to_string(request.local.size()) +
                      " buffers, and the connection was made for " +
                      std::to_string(options_.max_buffers) + " (connection_options::max_buffers)");
  }
  const std::size_t loose = request.unregistered.size();
  if (loose != 0 && request.local.size() != 0) {
    return refuse(errc::invalid_request, operation,
                  "both registered buffers and memory that is not registered");
  }
  if (loose > options_.max_inline) {
    return refuse(errc::not_registered, operation,
                  std::to_string(loose) + " octets of memory that is not registered, and only " +
                      std::to_string(options_.max_inline) +
                      " are copied (connection_options::max_inline)");
  }
  // An atomic works on eight octets, and its own result lies with the connection.
  const std::uint64_t length = operation.is_atomic ? 8 : length_of(request.local) + loose;
  if (length > UINT32_MAX) {
    return refuse(errc::invalid_request, operation,
                  "a message of " + std::to_string(length) +
                      " octets; 4 GiB less one are the most (RFC 5041 §5.2)");
  }
  if (names_peers_memory(operation) && length > request.remote.length) {
    return refuse(errc::remote_access, operation,
                  std::to_string(length) + " octets, and the peer's buffer (" +
                      to_text(request.remote) + ") has " + std::to_string(request.remote.length));
  }
  return {};
}

// What is wrong with the local memory of a request, if anything is.
std::string connection_core::complaint(const posted_base& operation) const {
  const buffer_list& local = operation.request.local;
  const bool written = operation.in == posted_base::queue::receive ||
                       operation.request.opcode == verbs::Opcode::kRead;
  for (std::size_t i = 0; i < local.size(); ++i) {
    auto text = domain_->complaint(local[i], written);
    if (!text.empty()) return text;
  }
  return {};
}

error_code connection_core::post_error(const posted_base& operation, std::errc code) {
  switch (code) {
    case std::errc::not_connected:
      if (stage_ == stage::over) return end_error();
      if (given_up_) return operation_aborted;
      return refuse(errc::not_connected, operation,
                    stage_ == stage::open ? "the connection is being shut down"
                                          : "there is no connection yet");
    case std::errc::not_supported:
      return refuse(errc::not_supported, operation,
                    "RFC 7306 was not agreed to for this connection (connect_options::rfc7306)");
    case std::errc::message_size:
      return refuse(errc::message_too_long, operation, "longer than a message can be");
    default:
      return refuse(errc::invalid_request, operation,
                    "the device refuses it as malformed: " + std::make_error_code(code).message());
  }
}

error_code connection_core::status_error(const posted_base& operation, verbs::Status status) {
  if (status == verbs::Status::kFlushed || status == verbs::Status::kFatal ||
      status == verbs::Status::kUnreachable) {
    return end_error();
  }
  std::string sentence = verbs::to_string(status);
  if (const auto local = complaint(operation); !local.empty()) sentence += ": " + local;
  if (names_peers_memory(operation)) sentence += "; " + to_text(operation.request.remote);
  if (status == verbs::Status::kLocalLengthError && operation.in == posted_base::queue::receive) {
    sentence += ": the peer's message is longer than the " +
                std::to_string(length_of(operation.request.local)) + " octets of the receive";
  }
  return refuse(code_of(status), operation, sentence);
}

void connection_core::on_failed_message(const verbs::Completion& completion) {
  if (completion.status != verbs::Status::kLocalLengthError) return;
  const session held(*this);
  note(name() +
       ": the peer's message is longer than a buffer of the message pool "
       "(message_pool_options::message_size)");
}

// Why what was under way when the connection ended has ended.
error_code connection_core::end_error() const {
  if (given_up_) return operation_aborted;
  const verbs::Diagnosis end = qp_->diagnosis();
  if (end.graceful) return boost::asio::error::eof;
  switch (end.by) {
    case verbs::EndedBy::kPeerTerminate:
      if (end.cause) return {value_of(*end.cause), received_terminate_category()};
      return errc::connection_lost;
    case verbs::EndedBy::kStack:
      if (end.cause) return {value_of(*end.cause), sent_terminate_category()};
      return errc::connection_lost;
    case verbs::EndedBy::kPeerReject: return errc::rejected;
    case verbs::EndedBy::kPeerFin:
    case verbs::EndedBy::kNetwork: return boost::asio::error::connection_reset;
    case verbs::EndedBy::kProgram: return operation_aborted;
    case verbs::EndedBy::kNobody: break;
  }
  return errc::connection_lost;
}

std::string connection_core::why() const {
  const verbs::Diagnosis end = qp_->diagnosis();
  if (domain_->device()->inherited()) return end.to_string();
  const session held(*this);
  std::string text = first_failure_;
  if (end.by == verbs::EndedBy::kNobody || end.sentence == text) return text;
  if (!text.empty()) text += "; ";
  return text + end.to_string();
}

}  // namespace iwarp::asio::detail
