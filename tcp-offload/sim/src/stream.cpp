#include "stream.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

namespace iwarp::tcp_offload::sim {

SimStream::SimStream(LinkEnd end, ConstBytes first)
    : end_(std::move(end)),
      accepted_before_(end_.out().accepted()),
      first_(first.begin(), first.end()) {}

Received SimStream::receive(MutableBytes scratch) {
  assert(lent_ == 0 && !scratch.empty());
  if (last_received_.status != IoStatus::kWouldBlock) return last_received_;
  if (aborted_) return finish(IoStatus::kLost);
  if (!first_.empty()) return lend_first(scratch);
  if (end_.in().unread() != 0) return lend_arrived(scratch);
  if (end_.lost()) return finish(IoStatus::kLost);
  if (end_.in().ended()) return finish(IoStatus::kEndOfStream);
  return {};
}

Received SimStream::finish(IoStatus status) {
  last_received_.status = status;
  if (status == IoStatus::kLost) last_received_.error = end_.lost();
  return last_received_;
}

std::size_t SimStream::lend_limit(MutableBytes scratch) const {
  const SimOptions& options = end_.in().options();
  const std::size_t wanted = end_.world().random.pick(options.lend);
  return options.lending == SimLending::kScratch ? std::min(wanted, scratch.size()) : wanted;
}

Received SimStream::lend_first(MutableBytes scratch) {
  const std::size_t n = std::min(first_.size(), lend_limit(scratch));
  const auto cut = first_.begin() + static_cast<std::ptrdiff_t>(n);
  std::vector<std::byte> octets(first_.begin(), cut);
  first_.erase(first_.begin(), cut);
  lent_from_window_ = false;
  return lend(std::move(octets), scratch);
}

Received SimStream::lend_arrived(MutableBytes scratch) {
  std::vector<std::byte> octets(std::min(end_.in().unread(), lend_limit(scratch)));
  end_.in().take(octets);
  lent_from_window_ = true;
  return lend(std::move(octets), scratch);
}

Received SimStream::lend(std::vector<std::byte> octets, MutableBytes scratch) {
  end_.world().schedule.note(Happening::kLent, octets.size());
  lent_ = octets.size();
  if (end_.in().options().lending == SimLending::kScratch) {
    std::copy(octets.begin(), octets.end(), scratch.begin());
    return {IoStatus::kOk, scratch.first(lent_), {}};
  }
  lent_memory_ = std::move(octets);
  return {IoStatus::kOk, lent_memory_, {}};
}

void SimStream::consume(std::size_t n) {
  assert(n <= lent_);
  lent_ -= n;
  if (lent_from_window_) end_.in().consumed(n);
  if (lent_ == 0) lent_memory_ = {};
}

Sent SimStream::send(std::span<const iovec> pieces) {
  if (end_.lost()) return {IoStatus::kLost, 0, end_.lost()};
  if (shut_down_) return {IoStatus::kLost, 0, system_error(EPIPE)};
  const bool nothing = std::all_of(pieces.begin(), pieces.end(),
                                   [](const iovec& piece) { return piece.iov_len == 0; });
  if (nothing) return {IoStatus::kOk, 0, {}};
  const SimOptions& options = end_.out().options();
  const std::size_t limit = end_.world().random.pick(options.accept);
  const std::size_t n = end_.out().accept(pieces, limit, options.memory);
  if (n == 0) return {};
  end_.world().schedule.note(Happening::kAccepted, n);
  return {IoStatus::kOk, n, {}};
}

std::uint64_t SimStream::released() const {
  return std::max(end_.out().released(), accepted_before_) - accepted_before_;
}

void SimStream::shutdown_send() {
  shut_down_ = true;
  end_.out().finish();
}

void SimStream::abort() {
  aborted_ = true;
  end_.abort();
}

}  // namespace iwarp::tcp_offload::sim
