#include <boost/asio/error.hpp>

#include "connection_core.hpp"
#include "iwarp/verbs/log.hpp"
#include "throw_error.hpp"
#include "words.hpp"

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

}  // namespace

std::string connection_core::name() const {
  return "connection (queue pair " + std::to_string(qp_->number()) + ")";
}

void connection_core::note(std::string sentence) {
  verbs::log(verbs::LogLevel::kWarn, sentence);
  last_failure_ = std::move(sentence);
}

// What comes behind the first is a consequence.
void connection_core::note_end(std::string sentence) {
  if (cause_of_end_.empty()) cause_of_end_ = sentence;
  note(std::move(sentence));
}

error_code connection_core::refuse(errc code, const posted_base& operation,
                                   const std::string& sentence) {
  note(name() + ": " + name_of(operation) + ": " + sentence);
  return code;
}

error_code connection_core::post_error(const posted_base& operation,
                                       const verbs::PostError& refused) {
  switch (refused.code) {
    case std::errc::not_connected:
      if (stage_ == stage::over) return end_error();
      if (given_up_) return operation_aborted;
      return refuse(errc::not_connected, operation,
                    stage_ == stage::open ? "the connection is being shut down"
                                          : "there is no connection yet");
    case std::errc::not_supported:
      return refuse(errc::not_supported, operation, "the device refuses it: " + refused.message());
    case std::errc::invalid_argument:
    case std::errc::message_size:
      return refuse(errc::invalid_request, operation,
                    "the device refuses it: " + refused.message());
    default:  // what the device itself has failed with
      note(name() + ": " + name_of(operation) + ": " + refused.message());
      return to_error_code(std::make_error_code(refused.code));
  }
}

error_code connection_core::status_error(const posted_base& operation, verbs::Status status) {
  if (status == verbs::Status::kFlushed || status == verbs::Status::kFatal ||
      status == verbs::Status::kUnreachable) {
    return end_error();
  }
  std::string sentence = verbs::to_string(status);
  if (const auto local = complain(operation)) sentence += ": " + local->sentence;
  if (names_peers_memory(operation)) sentence += "; " + to_text(operation.request.remote);
  if (status == verbs::Status::kLocalLengthError && operation.in == posted_base::queue::receive) {
    sentence += ": the peer's message is longer than the " +
                std::to_string(length_of(operation.request.local)) + " octets of the receive";
  }
  note_end(name() + ": " + name_of(operation) + ": " + sentence);
  return code_of(status);
}

void connection_core::on_failed_message(const verbs::Completion& completion) {
  if (completion.status != verbs::Status::kLocalLengthError) return;
  const session held(*this);
  note_end(name() +
           ": the peer's message is longer than a buffer of the message pool "
           "(message_pool_options::message_size)");
}

// Why what was under way when the connection ended has ended.
error_code connection_core::end_error() {
  told_of_end_ = true;
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

// A request that failed by itself has ended the connection, whose own diagnosis may know less.
std::string connection_core::why() const {
  if (domain_->device()->inherited()) {
    const verbs::Diagnosis end = qp_->diagnosis();
    return end.by != verbs::EndedBy::kNobody ? end.to_string() : std::string();
  }
  const session held(*this);
  if (!is_over()) return {};
  const verbs::Diagnosis end = qp_->diagnosis();
  const bool known = end.by != verbs::EndedBy::kNobody;
  if (!known && !cause_of_end_.empty()) return cause_of_end_;
  if (!known)
    return name() + (given_up_ ? ": given up by this side" : ": over, for no known reason");
  if (!cause_of_end_.empty() && cause_of_end_ != end.sentence) {
    return cause_of_end_ + "; " + end.to_string();
  }
  return name() + (end.graceful ? ": ended gracefully: " : ": ") + end.to_string();
}

// The event may be yet to come when the first operation tells of the end.
bool connection_core::is_over() const {
  return stage_ == stage::over || given_up_ || told_of_end_ || !cause_of_end_.empty();
}

std::string connection_core::last_failure() const {
  if (domain_->device()->inherited()) return {};
  const session held(*this);
  return last_failure_;
}

}  // namespace iwarp::asio::detail
