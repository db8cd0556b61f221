#include "soft/qp/halves/transmit_half.hpp"

// What was to be sent and cannot be read: the STag has ended, or the memory behind it has gone.
namespace iwarp::verbs::soft {
namespace {

using connection::RequestFault;

std::string reason_of(const RequestFault& fault) {
  switch (fault.what) {
    case RequestFault::What::kNotAgreed:
      return "a request was posted before the connection, which does not allow it";
    case RequestFault::What::kNoAccess: return "a send request names memory that may not be read";
    case RequestFault::What::kMemoryMissing: break;
  }
  return missing_memory(Attempt::kRead, fault.memory);
}

}  // namespace

// All before it has left.
void TransmitHalf::blame(const connection::SendFault& fault) {
  if (const auto* request = std::get_if<RequestFault>(&fault)) {
    const Status status = request->what == RequestFault::What::kNotAgreed
                              ? Status::kRemoteInvalidRequest
                              : Status::kLocalProtectionError;
    bad_request_ = {request->position, status, reason_of(*request)};
    return;
  }
  const auto& response = std::get<connection::ResponseFault>(fault);
  std::string reason = rdmap::describe(response.terminate.cause);
  if (response.memory) reason += ": " + missing_memory(Attempt::kRead, response.memory);
  parts_.life.order_terminate(response.terminate, std::move(reason));
}

// Memory that the stream could not read is offered once more as a copy: copying finds out which
// request has lost it.
bool TransmitHalf::goes_on_after(const tcp_offload::Sent& sent, Link& link) {
  connection::Outbound& outbound = link.outbound();
  if (sent.status == tcp_offload::IoStatus::kFault && !outbound.copies_all()) {
    outbound.copy_all(true);
    return true;
  }
  switch (sent.status) {
    case tcp_offload::IoStatus::kOk: outbound.copy_all(false); return true;
    case tcp_offload::IoStatus::kWouldBlock: yield_turn(); break;
    case tcp_offload::IoStatus::kNoMemory: await_memory(); break;
    case tcp_offload::IoStatus::kFault: parts_.life.lose(connection_lost(sent.error)); break;
    default: lose_sending(sent.error); break;
  }
  return false;
}

// The peer has a part of an FPDU whose rest has gone. Nothing can follow it, not even a Terminate.
void TransmitHalf::lose_cut_fpdu(const connection::CutFault& cut) {
  const std::string what = missing_memory(Attempt::kRead, cut.memory);
  if (cut.request) bad_request_ = {*cut.request, Status::kLocalProtectionError, what};
  parts_.life.lose(what);
}

// A peer may say its last word and close while this end is still sending. TCP answers what comes
// then by a reset, of which the sending half may learn first. What had arrived before, a Terminate
// perhaps, is still the program's: the receiving half ends the stream when it has seen all of it.
void TransmitHalf::lose_sending(const std::error_code& error) {
  parts_.life.lose_output(error);
  if (!parts_.life.input_ended()) parts_.want_read();
}

}  // namespace iwarp::verbs::soft
