#include "cm/reservation.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

namespace iwarp::compat {
namespace {

bool is_v6(const Endpoint& at) { return at.protocol() == boost::asio::ip::tcp::v6(); }

// What an id has, and on which terms.
struct Kept {
  const Reservation* by;
  Endpoint at;
  ReservationTerms terms;

  [[nodiscard]] bool is_wildcard() const { return at.address().is_unspecified(); }
  // Ids of IPv4 always leave the other family alone.
  [[nodiscard]] bool takes_both_families() const {
    return is_v6(at) && is_wildcard() && !terms.v6_only.value_or(false);
  }
};

// As cma_check_port(), but that 127.0.0.1 and another address of the host do not exclude each
// other.
bool exclude(const Kept& one, const Kept& other) {
  if (one.at.port() != other.at.port() || (one.terms.shared && other.terms.shared)) return false;
  if (is_v6(one.at) != is_v6(other.at)) {
    return one.takes_both_families() || other.takes_both_families();
  }
  return one.is_wildcard() || other.is_wildcard() || one.at.address() == other.at.address();
}

// The ports of the ids of this process.
class Book {
 public:
  static Book& get() { return process::of_this_process<Book>(); }

  void add(const Kept& kept) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(kept);
  }
  void remove(const Reservation* by) {
    const std::lock_guard lock(mutex_);
    std::erase_if(kept_, [by](const Kept& each) { return each.by == by; });
  }
  void change(const Kept& kept) {
    const std::lock_guard lock(mutex_);
    for (Kept& each : kept_) {
      if (each.by == kept.by) each = kept;
    }
  }
  // 0, or why it cannot be had.
  int conflict(const Kept& wanted) {
    const std::lock_guard lock(mutex_);
    for (const Kept& each : kept_) {
      if (!exclude(each, wanted)) continue;
      const bool any = names_no_device(wanted.at.address()) || names_no_device(each.at.address());
      return any ? EADDRNOTAVAIL : EADDRINUSE;
    }
    return 0;
  }

 private:
  std::mutex mutex_;
  std::vector<Kept> kept_;
};

void set_reuse(int socket, bool reuse) {
  const int value = reuse ? 1 : 0;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &value, sizeof value);
}

// The kernel's rdma_bind_addr() looks for the interface of an address, but not of a loopback one:
// on a host whose lo has none libfabric still finds its devices by an id that is bound there.
void take_loopback_without_interface(int socket, const Endpoint& at) {
  if (!at.address().is_loopback()) return;
  const int one = 1;
  if (is_v6(at)) {
    ::setsockopt(socket, IPPROTO_IPV6, IPV6_FREEBIND, &one, sizeof one);
  } else {
    ::setsockopt(socket, IPPROTO_IP, IP_FREEBIND, &one, sizeof one);
  }
}

int bind_socket(int socket, Endpoint& at, bool reuse) {
  set_reuse(socket, reuse);
  auto size = static_cast<socklen_t>(at.capacity());
  const bool bound = ::bind(socket, at.data(), static_cast<socklen_t>(at.size())) == 0 &&
                     ::getsockname(socket, at.data(), &size) == 0;
  return bound ? 0 : errno;
}

// Connections that were accepted at the port keep it from a socket that does not reuse addresses;
// perftest listens anew while it has one. The other ids have been asked already.
int bind_beside_connections(int socket, Endpoint& at, const ReservationTerms& terms) {
  take_loopback_without_interface(socket, at);
  if (terms.v6_only && is_v6(at)) {
    const int only = *terms.v6_only ? 1 : 0;
    ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
  }
  int error = bind_socket(socket, at, terms.shared);
  if (error == EADDRINUSE && !terms.shared) error = bind_socket(socket, at, true);
  return error == EADDRINUSE && names_no_device(at.address()) ? EADDRNOTAVAIL : error;
}

}  // namespace

int Reservation::reserve(Endpoint& at, const ReservationTerms& terms) {
  release();
  if (at.port() != 0) return keep(at, terms);
  // The system may choose a port of which only an id knows.
  constexpr int kMostChoices = 64;
  int error = 0;
  for (int i = 0; i < kMostChoices; ++i) {
    Endpoint chosen = at;
    error = keep(chosen, terms);
    if (error == 0) at = chosen;
    if (error == 0 || chosen.port() == 0) break;
  }
  return error;
}

// Behind the binding the port is not to be reused, so that the system refuses it to whatever comes
// next, a socket that does reuse addresses included.
int Reservation::keep(Endpoint& at, const ReservationTerms& terms) {
  if (const int error = Book::get().conflict({this, at, terms})) return error;
  const int socket = ::socket(at.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  int error = bind_beside_connections(socket, at, terms);
  if (error == 0) error = Book::get().conflict({this, at, terms});
  if (error != 0) {
    ::close(socket);
    return error;
  }
  set_reuse(socket, terms.shared);
  socket_ = socket;
  at_ = at;
  terms_ = terms;
  Book::get().add({this, at, terms});
  in_children_ = process::ClosedInChildren(socket);
  return 0;
}

// A socket keeps its families from its binding on; all else can be said later, also of a port that
// has been handed over.
int Reservation::change(const ReservationTerms& terms) {
  const ReservationTerms before = *terms_;
  if (socket_ >= 0 && is_v6(at_) && terms.v6_only != before.v6_only) {
    Endpoint at = at_;
    const int error = reserve(at, terms);
    if (error != 0) static_cast<void>(reserve(at, before));
    return error;
  }
  terms_ = terms;
  Book::get().change({this, at_, terms});
  take_room_back();
  return 0;
}

void Reservation::make_room() const {
  if (socket_ >= 0) set_reuse(socket_, true);
}

void Reservation::take_room_back() const {
  if (socket_ >= 0) set_reuse(socket_, terms_->shared);
}

void Reservation::hand_over() {
  if (socket_ < 0) return;
  in_children_.release();
  ::close(std::exchange(socket_, -1));
}

void Reservation::release() {
  hand_over();
  if (holds()) Book::get().remove(this);
  terms_.reset();
}

}  // namespace iwarp::compat
