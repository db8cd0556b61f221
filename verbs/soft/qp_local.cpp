#include "soft/qp_link.hpp"

namespace iwarp::verbs::soft {

void SoftQp::append_local(const SendWr& request) {
  if (!local_work_) local_work_.reset(new LocalWork[send_queue_.places()]);
  LocalWork& work = local_work_[send_queue_.place(send_queue_.tail())];
  work.opcode = request.opcode;
  work.invalidate = request.invalidate_stag;
  if (request.bind != nullptr) work.bind = *request.bind;
  if (request.registration != nullptr) work.registration = *request.registration;
}

// Whether the next request is one of those, and to be performed now: not once requests are flushed.
bool SoftQp::local_due() const {
  if (bad_request_ || given_up() || flushing()) return false;
  return link_.load()->outbound().local_due();
}

// Performs the work request whose turn has come; false if there is none. What is before it has been
// handed to the stream, or copied; what is behind it has not been looked at.
bool SoftQp::perform_local() {
  if (!local_due()) return false;
  connection::Outbound& outbound = link_.load()->outbound();
  const std::uint32_t position = outbound.next_request();
  const LocalWork& work = local_work_[send_queue_.place(position)];
  MemoryRegistry& memory = init_.host->memory();
  bool done = false;
  switch (work.opcode) {
    case Opcode::kBindWindow: done = memory.bind(work.bind, accessor()); break;
    case Opcode::kRegister: done = memory.register_fast(work.registration, accessor()); break;
    default: done = memory.invalidate(work.invalidate, accessor()); break;
  }
  if (!done) {
    bad_request_ = {position, Status::kWindowBindError,
                    "a work request names an STag that may not be bound, registered or ended so"};
    return false;
  }
  outbound.skip_local();
  return true;
}

CompletionOpcode SoftQp::completion_opcode(Opcode opcode) {
  switch (opcode) {
    case Opcode::kSend:
    case Opcode::kSendInvalidate: break;
    case Opcode::kWrite:
    case Opcode::kWriteImmediate: return CompletionOpcode::kWrite;
    case Opcode::kRead: return CompletionOpcode::kRead;
    case Opcode::kImmediate: return CompletionOpcode::kImmediate;
    case Opcode::kFetchAdd: return CompletionOpcode::kFetchAdd;
    case Opcode::kCmpSwap: return CompletionOpcode::kCmpSwap;
    case Opcode::kBindWindow: return CompletionOpcode::kBindWindow;
    case Opcode::kInvalidate: return CompletionOpcode::kInvalidate;
    case Opcode::kRegister: return CompletionOpcode::kRegister;
  }
  return CompletionOpcode::kSend;
}

CompletionOpcode SoftQp::completion_opcode(std::uint32_t position) const {
  switch (send_queue_.at(position).operation) {
    case rdmap::Operation::kWrite:
    case rdmap::Operation::kWriteImmediate:
    case rdmap::Operation::kWriteImmediateSolicited: return CompletionOpcode::kWrite;
    case rdmap::Operation::kRead: return CompletionOpcode::kRead;
    case rdmap::Operation::kImmediate:
    case rdmap::Operation::kImmediateSolicited: return CompletionOpcode::kImmediate;
    case rdmap::Operation::kFetchAdd: return CompletionOpcode::kFetchAdd;
    case rdmap::Operation::kCmpSwap: return CompletionOpcode::kCmpSwap;
    case rdmap::Operation::kLocal: break;
    default: return CompletionOpcode::kSend;
  }
  return completion_opcode(local_work_[send_queue_.place(position)].opcode);
}

}  // namespace iwarp::verbs::soft
