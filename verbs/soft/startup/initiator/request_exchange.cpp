#include "soft/startup/initiator/request_exchange.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "iwarp/provider/failure.hpp"

namespace iwarp::verbs::soft {

void RequestExchange::start(tcp_offload::Connection& connection, ConstBytes already_read,
                            std::function<void()> done) {
  connection_ = &connection;
  already_read_ = already_read;
  done_ = std::move(done);
  connection_->async_write(initiator_.request(), [this](std::error_code error, std::size_t) {
    if (error) return on_lost(error);
    take_already_read();
  });
}

void RequestExchange::take_already_read() {
  const std::size_t taken = initiator_.receive(already_read_);
  if (initiator_.state() == mpa::InitiatorState::kAwaitingReply) {
    std::ranges::copy(already_read_, reply_.begin());  // a part of the Reply, as it was all taken
    reply_size_ = taken;
  }
  already_read_ = already_read_.subspan(taken);
  go_on();
}

// Never reads beyond the Reply: what is behind it is the stream's (RFC 5044 §7.1.2 rule 3).
void RequestExchange::read() {
  const auto size = mpa::startup_frame_size({reply_.data(), reply_size_}, mpa::FrameKind::kReply);
  const MutableBytes missing = MutableBytes(reply_).first(size.value()).subspan(reply_size_);
  try {
    connection_->async_read_some(
        missing, [this](std::error_code error, std::size_t n) { on_read(error, n); });
  } catch (const std::exception& thrown) {
    on_lost(code_of(thrown));
  }
}

void RequestExchange::on_read(std::error_code error, std::size_t n) {
  initiator_.receive(ConstBytes(reply_).subspan(reply_size_, n));
  reply_size_ += n;
  if (error) return on_lost(error);
  go_on();
}

void RequestExchange::on_lost(std::error_code error) {
  lost_ = error;
  initiator_.on_closed();
  go_on();
}

void RequestExchange::go_on() {
  if (std::holds_alternative<mpa::Pending>(outcome())) return read();
  const auto done = done_;  // this may be gone before the call has returned
  done();
}

}  // namespace iwarp::verbs::soft
