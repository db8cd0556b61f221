#include "iwarp/verbs/types.hpp"

namespace iwarp::verbs {

const char* to_string(Status status) {
  switch (status) {
    case Status::kSuccess: return "success";
    case Status::kLocalLengthError: return "local length error";
    case Status::kLocalQpError: return "local queue pair error";
    case Status::kLocalProtectionError: return "local protection error";
    case Status::kWindowBindError: return "memory window bind error";
    case Status::kFlushed: return "flushed";
    case Status::kRemoteInvalidRequest: return "remote invalid request";
    case Status::kRemoteAccessError: return "remote access error";
    case Status::kRemoteOperationError: return "remote operation error";
    case Status::kUnreachable: return "peer unreachable";
    case Status::kFatal: return "fatal error";
  }
  return "unknown status";
}

const char* to_string(QpState state) {
  switch (state) {
    case QpState::kIdle: return "idle";
    case QpState::kConnecting: return "connecting";
    case QpState::kRts: return "ready to send";
    case QpState::kClosing: return "closing";
    case QpState::kTerminate: return "terminate";
    case QpState::kError: return "error";
  }
  return "unknown state";
}

}  // namespace iwarp::verbs
