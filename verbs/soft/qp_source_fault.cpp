#include "soft/qp_link.hpp"

// What was to be sent and cannot be read: the STag has ended, or the memory behind it has gone.
namespace iwarp::verbs::soft {

// The Terminate has the Read Request Header brought to where the response stands (RFC 5040 §4.8).
// The n-th Read Request had MSN n.
void SoftQp::refuse_read(const rdmap::OutgoingSegment& response, ddp::Error error,
                         const std::string& detail) {
  const rdmap::ReadRequest& asked = link_.load()->responses.at(response.position).read;
  rdmap::Terminate message;
  message.cause = rdmap::cause_of(rdmap::protection_error(error));
  const ddp::UntaggedHeader header{ddp::Last::kYes,
                                   rdmap::encode_control(rdmap::Opcode::kReadRequest),
                                   0,
                                   rdmap::kReadRequestQueueNumber,
                                   Msn{response.position + 1U},
                                   MessageOffset{0}};
  header.encode(message.ddp_header.data());
  message.ddp_header_size = ddp::kUntaggedHeaderSize;
  message.segment_length = ddp::kUntaggedHeaderSize + rdmap::ReadRequest::kSize;
  message.read_request =
      rdmap::ReadRequest{asked.sink_stag, TaggedOffset{asked.sink_to.value() + response.offset},
                         asked.size - response.offset, asked.source_stag,
                         TaggedOffset{asked.source_to.value() + response.offset}};
  order_terminate(message, rdmap::describe(message.cause) + detail);
}

// As if the STag had ended: nothing of the segment has been sent.
void SoftQp::blame_source(const rdmap::OutgoingSegment& segment, const MemoryFault& fault) {
  const std::string what = missing_memory(Attempt::kRead, fault);
  if (segment.source == rdmap::Source::kResponse) {
    refuse_read(segment, ddp::Error::kMemoryFault, ": " + what);
  } else {
    bad_request_ = {segment.position, Status::kLocalProtectionError, what};
  }
}

// Memory that the stream could not read is offered once more as a copy: copying finds out which
// request has lost it.
bool SoftQp::goes_on_after(const tcp_offload::Sent& sent) {
  if (sent.status == tcp_offload::IoStatus::kFault && !copies_all_) {
    copies_all_ = true;
    return true;
  }
  switch (sent.status) {
    case tcp_offload::IoStatus::kOk: copies_all_ = false; return true;
    case tcp_offload::IoStatus::kWouldBlock: yield_turn(); break;
    case tcp_offload::IoStatus::kNoMemory: await_memory(); break;
    case tcp_offload::IoStatus::kFault: lost(connection_lost(sent.error)); break;
    default: lose_sending(sent.error); break;
  }
  return false;
}

// The peer has a part of an FPDU whose rest has gone. Nothing can follow it, not even a Terminate.
void SoftQp::lose_cut_fpdu(const PlannedFpdu& cut, const MemoryFault& fault) {
  Link& link = *link_.load();
  link.unsent = {};
  const std::string what = missing_memory(Attempt::kRead, fault);
  if (cut.source == rdmap::Source::kRequest) {
    bad_request_ = {cut.request, Status::kLocalProtectionError, what};
  }
  lost(what);
}

}  // namespace iwarp::verbs::soft
