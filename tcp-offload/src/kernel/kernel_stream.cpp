#include "kernel/kernel_stream.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstring>

#include "kernel/socket.hpp"

namespace iwarp::tcp_offload::kernel {
namespace {

// How many octets are sent between two looks at the EMSS: few at first, as a young connection's
// EMSS is bounded by half of a window that still grows (on loopback it doubles with the first
// acknowledgement), then twice as many each time.
constexpr std::uint64_t kFirstEmssInterval = 1U << 14U;
constexpr std::uint64_t kLastEmssInterval = 1U << 20U;

// The longest packet that TCP hands down in one piece, for this host or the adapter to segment
// (GSO, TSO).
constexpr std::size_t kLongestPacket = 65536;

// The least every host must take (RFC 9293 §3.7.1), for a socket that does not tell.
constexpr std::size_t kDefaultMss = 536;

std::size_t emss_of(int socket) {
  const std::size_t mss = effective_mss(socket);
  return mss != 0 ? mss : kDefaultMss;
}

std::error_code system_error(int value) { return {value, std::system_category()}; }

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// These are no errors of the connection: the system had no memory for a buffer, or the interface's
// queue was full.
bool lacks_memory(int error) { return error == ENOBUFS || error == ENOMEM; }

ssize_t receive_now(int socket, MutableBytes into) {
  ssize_t n = 0;
  do {
    n = ::recv(socket, into.data(), into.size(), MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  return n;
}

ssize_t send_now(int socket, std::span<const iovec> pieces) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());  // the call does not write there
  message.msg_iovlen = std::min<std::size_t>(pieces.size(), IOV_MAX);
  ssize_t n = 0;
  do {
    n = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  return n;
}

std::span<const iovec> skip_empty(std::span<const iovec> pieces) {
  const auto first = std::find_if(pieces.begin(), pieces.end(),
                                  [](const iovec& piece) { return piece.iov_len != 0; });
  return {first, pieces.end()};
}

}  // namespace

KernelStream::KernelStream(Socket socket, const Ends& ends, ConstBytes first)
    : socket_(std::move(socket)),
      local_(ends.local),
      remote_(ends.remote),
      emss_(emss_of(socket_.get())),
      first_(first.begin(), first.end()) {}

Received KernelStream::receive(MutableBytes scratch) {
  assert(lent_ == 0 && !scratch.empty());
  if (last_received_.status != IoStatus::kWouldBlock) return last_received_;
  if (lost_.load(std::memory_order_acquire) == ECONNABORTED) return end_receiving(ECONNABORTED);
  if (!first_.empty()) return lend_first(scratch);
  const ssize_t n = receive_now(socket_.get(), scratch);
  if (n > 0) {
    Received got = lend(scratch.first(static_cast<std::size_t>(n)));
    got.drained = got.data.size() < scratch.size();
    return got;
  }
  if (n < 0 && would_block(errno)) return {};
  return end_receiving(n < 0 ? errno : reset_behind_end());
}

Received KernelStream::lend(MutableBytes data) {
  lent_ = data.size();
  return {IoStatus::kOk, data, {}};
}

Received KernelStream::lend_first(MutableBytes scratch) {
  const std::size_t n = std::min(scratch.size(), first_.size() - first_lent_);
  std::memcpy(scratch.data(), first_.data() + first_lent_, n);
  first_lent_ += n;
  if (first_lent_ == first_.size()) first_ = std::vector<std::byte>();  // frees the memory
  return lend(scratch.first(n));
}

// The system reports a reset to one call only, sending or receiving; to the other half the stream
// looks ended. So an end is believed only if the connection is still there, or if it may have
// closed properly because this end has sent its FIN too and no error came before that.
int KernelStream::reset_behind_end() const {
  if (!is_closed(socket_.get())) return 0;
  if (!shut_down_.load(std::memory_order_acquire)) return ECONNRESET;
  return lost_.load(std::memory_order_acquire);
}

// `error` 0 is the end of the stream.
Received KernelStream::end_receiving(int error) {
  if (error == 0) {
    last_received_.status = IoStatus::kEndOfStream;
  } else {
    last_received_ = {IoStatus::kLost, {}, system_error(note_lost(error))};
  }
  return last_received_;
}

void KernelStream::consume(std::size_t n) {
  assert(n <= lent_);
  lent_ -= n;
}

Sent KernelStream::send(std::span<const iovec> pieces) {
  if (send_error_) return {IoStatus::kLost, 0, send_error_};
  if (const int lost = lost_.load(std::memory_order_acquire)) return end_sending(lost);
  if (shut_down_.load(std::memory_order_relaxed)) {
    return {IoStatus::kLost, 0, system_error(EPIPE)};
  }
  const auto offered = skip_empty(pieces);
  if (offered.empty()) return {IoStatus::kOk, 0, {}};
  const ssize_t n = send_now(socket_.get(), offered);
  if (n >= 0) return count_accepted(static_cast<std::size_t>(n));
  if (would_block(errno)) return {};
  if (errno == EFAULT) return {IoStatus::kFault, 0, system_error(EFAULT)};
  if (lacks_memory(errno)) return {IoStatus::kNoMemory, 0, system_error(errno)};
  return end_sending(errno);
}

Sent KernelStream::count_accepted(std::size_t n) {
  accepted_ += n;
  if (accepted_ >= emss_due_) {
    emss_due_ = accepted_ + std::clamp(accepted_, kFirstEmssInterval, kLastEmssInterval);
    look_up_emss();
  }
  return {IoStatus::kOk, n, {}};
}

// A paced sender that is given whole packets one by one does up to twice as much as one that is
// given more at once (docs/performance.md). To others longer calls are as good or better, and so
// they are where a packet is one segment, as on loopback: there messages of 64 KiB would leave in
// two calls, the second for a few octets.
void KernelStream::look_up_emss() {
  const std::size_t emss = emss_of(socket_.get());
  emss_.store(emss, std::memory_order_relaxed);
  if (!paced_) paced_ = is_paced(socket_.get());
  const std::size_t segments = kLongestPacket / emss;
  const bool helps = *paced_ && segments > 1;
  send_quantum_.store(helps ? segments * emss : 0, std::memory_order_relaxed);
}

Sent KernelStream::end_sending(int error) {
  send_error_ = system_error(note_lost(error));
  return {IoStatus::kLost, 0, send_error_};
}

// A socket that has closed with octets unacknowledged was reset, or has given the peer up.
Delivery KernelStream::delivery() const {
  const bool fin = fin_queued_.load(std::memory_order_acquire);
  const std::uint64_t owed = unacknowledged(socket_.get());
  Delivery delivery{owed - (fin && owed != 0 ? 1U : 0U), {}};
  const int lost = lost_.load(std::memory_order_acquire);
  const bool gone = delivery.unacknowledged != 0 && is_closed(socket_.get());
  if (lost != 0 || gone) delivery.lost = system_error(lost != 0 ? lost : ECONNRESET);
  return delivery;
}

// Remembers the first reason; an abort overrides what it causes.
int KernelStream::note_lost(int error) {
  int first = 0;
  return lost_.compare_exchange_strong(first, error, std::memory_order_acq_rel) ? error : first;
}

void KernelStream::shutdown_send() {
  // Set before FIN can have gone out: see reset_behind_end().
  if (shut_down_.exchange(true, std::memory_order_acq_rel)) return;
  static_cast<void>(::shutdown(socket_.get(), SHUT_WR));
  fin_queued_.store(true, std::memory_order_release);
}

void KernelStream::abort() {
  note_lost(ECONNABORTED);
  reset_connection(socket_.get());
}

}  // namespace iwarp::tcp_offload::kernel
