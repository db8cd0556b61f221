#include "capture/captured_connection.hpp"

#include <algorithm>
#include <utility>

#include "capture/captured_stream.hpp"

namespace iwarp::tcp_offload::capture {
namespace {

// How many the stream lends of the first octets of the wire: a device that takes Markers out does
// not lend them.
std::size_t octets_lent(std::size_t on_wire, const MpaTerms& negotiated, const MpaTerms& left) {
  const bool taken_out = negotiated.markers_received && !left.markers_received;
  return on_wire - (taken_out ? static_cast<std::size_t>(marker_octets(on_wire)) : 0);
}

}  // namespace

CapturedConnection::~CapturedConnection() {
  inner_.reset();
  if (!gone_) recorder_->closed();
}

// No handler is called after the destructor was entered: so they may refer to this, before they
// call the handler they stand for.

TransferHandler CapturedConnection::recording(MutableBytes into, TransferHandler handler) {
  return [this, into, handler = std::move(handler)](std::error_code error, std::size_t n) mutable {
    recorder_->received(into.first(n));
    read_ += n;
    note(error);
    handler(error, n);
  };
}

void CapturedConnection::async_read_some(MutableBytes into, TransferHandler handler) {
  inner_->async_read_some(into, recording(into, std::move(handler)));
}

void CapturedConnection::async_read(MutableBytes into, TransferHandler handler) {
  inner_->async_read(into, recording(into, std::move(handler)));
}

void CapturedConnection::async_write(ConstBytes from, TransferHandler handler) {
  inner_->async_write(from, [this, from, handler = std::move(handler)](std::error_code error,
                                                                       std::size_t n) mutable {
    recorder_->sent(from.first(n));
    note(error);
    handler(error, n);
  });
}

void CapturedConnection::note(std::error_code error) {
  if (error == Error::kEndOfStream) {
    recorder_->finished(End::kRemote);
  } else if (error && error != std::errc::operation_canceled) {
    recorder_->lost(error);
  }
}

void CapturedConnection::close() {
  inner_->close();
  recorder_->finished(End::kLocal);
}

std::unique_ptr<Stream> CapturedConnection::hand_over(ConstBytes already_read,
                                                      const MpaTerms& negotiated) {
  auto stream = inner_->hand_over(already_read, negotiated);
  if (stream == nullptr) return nullptr;
  gone_ = true;
  if (!recorder_->started()) return stream;
  // What was read before the connection came here has not been recorded.
  const std::size_t known = std::min(read_, already_read.size());
  recorder_->received(already_read.first(already_read.size() - known));
  return std::make_unique<CapturedStream>(
      std::move(stream), recorder_,
      octets_lent(already_read.size(), negotiated, left_to_host(negotiated, offloads_)));
}

int CapturedConnection::release_native() {
  const int socket = inner_->release_native();
  if (socket >= 0) {
    gone_ = true;
    recorder_->left();
  }
  return socket;
}

}  // namespace iwarp::tcp_offload::capture
