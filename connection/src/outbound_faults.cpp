#include "iwarp/connection/outbound.hpp"

/// What was to be sent and cannot be read: the STag has ended, or the memory behind it has gone.
namespace iwarp::connection {

// The Terminate has the Read Request Header brought to where the response stands (RFC 5040 §4.8).
// The n-th Read Request had MSN n.
ResponseFault Outbound::refuse_read(const rdmap::OutgoingSegment& response,
                                    ddp::Error error) const {
  const rdmap::ReadRequest& asked = parts_.responses.at(response.position).read;
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
  return {message, {}};
}

// As if the STag had ended: nothing of the segment has been sent.
SendFault Outbound::memory_missing(const rdmap::OutgoingSegment& segment,
                                   MemoryFault memory) const {
  if (segment.source != rdmap::Source::kResponse) {
    return RequestFault{RequestFault::What::kMemoryMissing, segment.position, memory};
  }
  ResponseFault fault = refuse_read(segment, ddp::Error::kMemoryFault);
  fault.memory = memory;
  return fault;
}

}  // namespace iwarp::connection
