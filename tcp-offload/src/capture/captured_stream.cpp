#include "capture/captured_stream.hpp"

#include <algorithm>

namespace iwarp::tcp_offload::capture {

CapturedStream::~CapturedStream() {
  inner_.reset();
  recorder_->closed();
}

Received CapturedStream::receive(MutableBytes scratch) {
  const Received received = inner_->receive(scratch);
  switch (received.status) {
    case IoStatus::kOk: {
      const std::size_t known = std::min(known_, received.data.size());
      known_ -= known;
      recorder_->received(received.data.subspan(known));
      break;
    }
    case IoStatus::kEndOfStream: recorder_->finished(End::kRemote); break;
    case IoStatus::kLost: recorder_->lost(received.error); break;
    case IoStatus::kWouldBlock:
    case IoStatus::kFault:
    case IoStatus::kNoMemory:
    case IoStatus::kBadFpdu: break;  // which has not been lent
  }
  return received;
}

Sent CapturedStream::send(std::span<const iovec> pieces) {
  const Sent sent = inner_->send(pieces);
  if (sent.accepted != 0) recorder_->sent(pieces, sent.accepted);
  if (sent.status == IoStatus::kLost && !shut_down_) recorder_->lost(sent.error);
  return sent;
}

void CapturedStream::shutdown_send() {
  shut_down_ = true;
  inner_->shutdown_send();
  recorder_->finished(End::kLocal);
}

void CapturedStream::abort() {
  inner_->abort();
  recorder_->lost(std::make_error_code(std::errc::connection_aborted));
}

}  // namespace iwarp::tcp_offload::capture
