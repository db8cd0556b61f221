#include "attacker.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace iwarp::siege {
namespace {

using namespace std::chrono_literals;

constexpr auto kDripInterval = 1s, kShortHold = 2s;
// What a server that answers takes for it, more or less.
constexpr auto kImaginedAnswer = 20ms;
// An end that has closed its side is left so long with what has not been read.
constexpr auto kBehindFin = 1s;
constexpr int kSmallBuffer = 4096;

sockaddr_in address(std::uint32_t host, std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(host);
  at.sin_port = htons(port);
  return at;
}

// 127.x.y.1, a network of 256 addresses for each.
std::uint32_t network_of(std::size_t number) {
  return 0x7F010001U + (static_cast<std::uint32_t>(number) << 8);
}

void set(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

}  // namespace

void Attacker::connect() {
  plan_.emplace(plan_of(orders_.attack, orders_.server, number_, round_++));
  at_ = done_ = 0;
  connected_ = full_ = expired_ = ended_by_peer_ = answered_ = false;
  inbox_.clear();
  reply_.reset();
  due_.reset();
  fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) {
    ++tally_.refused;
    return wait_for(orders_.pause);
  }
  if (orders_.many_addresses) {
    set(fd_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    const sockaddr_in own = address(network_of(number_), 0);
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) return lose();
  }
  // So that what is not read stays with the server.
  if (plan_->reading == Reading::kNever) set(fd_, SOL_SOCKET, SO_RCVBUF, kSmallBuffer);
  const sockaddr_in there = address(INADDR_LOOPBACK, orders_.port);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0 &&
      errno != EINPROGRESS) {
    return lose();
  }
  watched_ = EPOLLOUT | EPOLLRDHUP;
  epoll_event event{.events = watched_, .data = {.u64 = number_}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd_, &event);
}

void Attacker::on_ready(std::uint32_t events) {
  if (fd_ < 0) return;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return lose();
  if ((events & EPOLLOUT) != 0) {
    if (!std::exchange(connected_, true)) ++tally_.connects;
    full_ = false;
  }
  if ((events & EPOLLIN) != 0) receive();
  if (fd_ < 0) return;
  if ((events & EPOLLRDHUP) != 0 && !ended_by_peer_) {
    if (reads()) return lose();
    ended_by_peer_ = true;
    wait_for(kBehindFin);
  }
  advance();
}

void Attacker::on_time() {
  due_.reset();
  if (ended_by_peer_) return lose();
  expired_ = true;
  advance();
}

void Attacker::advance() {
  while (fd_ >= 0 && connected_ && !full_ && !ended_by_peer_) {
    if (at_ == plan_->steps.size()) return leave();
    if (take(plan_->steps[at_]) == Next::kWait) break;
    next_step();
  }
  if (fd_ >= 0) watch();
}

void Attacker::next_step() {
  ++at_;
  done_ = 0;
  expired_ = false;
  if (!ended_by_peer_) due_.reset();
}

Attacker::Next Attacker::take(Step& step) {
  switch (step.act) {
    case Act::kRequests: step = {Act::kSend, plan_->speech.requests(*reply_)}; [[fallthrough]];
    case Act::kSend: return send(step.octets);
    case Act::kDrip: return drip(step.octets);
    case Act::kReply: return await_reply();
    case Act::kAnswer: return await_answer();
    case Act::kFinish: ::shutdown(fd_, SHUT_WR); return Next::kGoOn;
    case Act::kReset: reset(); return Next::kWait;
    case Act::kLeave: leave(); return Next::kWait;
    case Act::kHold: return Next::kWait;
    case Act::kHoldShort: break;
  }
  if (expired_) {
    leave();
  } else if (!due_) {
    wait_for(kShortHold);
  }
  return Next::kWait;
}

Attacker::Next Attacker::send(OctetView octets) {
  while (done_ < octets.size()) {
    const OctetView rest = octets.subspan(done_);
    const ssize_t took = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (took < 0) {
      full_ = errno == EAGAIN;
      if (!full_) lose();
      return Next::kWait;
    }
    done_ += static_cast<std::size_t>(took);
    tally_.sent += static_cast<std::uint64_t>(took);
  }
  return Next::kGoOn;
}

Attacker::Next Attacker::drip(OctetView octets) {
  if (due_) return Next::kWait;
  if (done_ == octets.size()) return Next::kGoOn;
  expired_ = false;
  const std::size_t before = done_;
  if (send(octets.subspan(0, done_ + 1)) == Next::kWait && fd_ < 0) return Next::kWait;
  if (done_ > before) wait_for(kDripInterval);
  return Next::kWait;
}

Attacker::Next Attacker::await_reply() {
  if (reply_) return Next::kGoOn;
  if (!orders_.blind) return Next::kWait;
  if (!expired_) {
    if (!due_) wait_for(kImaginedAnswer);
    return Next::kWait;
  }
  // A place to read from, so that the requests are as long as they would be.
  reply_.emplace().private_data = Octets(20, 1);
  if (number_ % 2 == 0) reply_->enhanced = conform::EnhancedData{.ird = 8, .ord = 8};
  return Next::kGoOn;
}

Attacker::Next Attacker::await_answer() {
  if (answered_ || (orders_.blind && expired_)) return Next::kGoOn;
  if (orders_.blind && !due_) wait_for(kImaginedAnswer);
  return Next::kWait;
}

bool Attacker::reads() const {
  if (plan_->reading == Reading::kReads) return true;
  return at_ < plan_->steps.size() && plan_->steps[at_].act == Act::kReply;
}

void Attacker::receive() {
  std::array<std::uint8_t, 65536> buffer;
  // Only the Reply of one that never reads: what is behind it stays in the socket.
  const std::size_t most = reads() && reply_ ? buffer.size() : 64;
  const ssize_t got = ::recv(fd_, buffer.data(), most, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return lose();
  tally_.read += static_cast<std::uint64_t>(got);
  if (reply_) {
    answered_ = true;
    return;
  }
  inbox_.insert(inbox_.end(), buffer.begin(), buffer.begin() + got);
  note_reply();
}

void Attacker::note_reply() {
  std::size_t size = 0;
  reply_ = conform::parse_startup_frame(inbox_, size);
  if (!reply_) return;
  ++tally_.replies;
  if (reply_->rejected()) ++tally_.rejected;
  answered_ = inbox_.size() > size;
}

void Attacker::watch() {
  std::uint32_t wanted = 0;
  if (!ended_by_peer_) wanted = EPOLLRDHUP;
  if (!ended_by_peer_ && reads()) wanted |= EPOLLIN;
  if (full_ || !connected_) wanted |= EPOLLOUT;
  if (wanted == watched_) return;
  watched_ = wanted;
  epoll_event event{.events = watched_, .data = {.u64 = number_}};
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd_, &event);
}

void Attacker::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  leave();
}

void Attacker::leave() {
  if (fd_ < 0) return;
  ::close(fd_);
  fd_ = -1;
  // Not all at the same moment.
  const auto share = static_cast<int>(number_ * 37 % 100);
  wait_for(orders_.pause * (50 + share) / 100);
}

void Attacker::lose() {
  ++(connected_ ? tally_.cut_off : tally_.refused);
  leave();
}

}  // namespace iwarp::siege
