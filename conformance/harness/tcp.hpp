#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "harness/transcript.hpp"

namespace iwarp::conform {

using std::chrono::milliseconds;

/// HOST:PORT; the host may be a name or a numeric address, IPv6 in brackets.
struct Address {
  std::string host;
  std::uint16_t port = 0;
};
/// None if `text` is not HOST:PORT.
std::optional<Address> parse_address(std::string_view text);
std::string to_string(const Address& address);

/// A TCP connection whose every wait ends.
class Tcp {
 public:
  enum class Got { kOctets, kFin, kReset, kNothing };

  Tcp() = default;
  explicit Tcp(int descriptor) : descriptor_(descriptor) {}
  Tcp(Tcp&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Tcp& operator=(Tcp&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Tcp() { close(); }

  /// Advertises `max_segment_size`, or by default what the system chooses. Throws CannotConnect.
  static Tcp connect(const Address& to, milliseconds timeout, int max_segment_size = 0);

  bool is_open() const { return descriptor_ >= 0; }
  /// False if the other end has closed or reset, or takes nothing for `timeout`.
  bool send(OctetView octets, milliseconds timeout);
  /// Appends to `into` what there is, at most 64 KiB, waiting for the first octet.
  Got receive(Octets& into, milliseconds timeout);
  void shut_down_sending();
  void close();
  /// Ends the connection with a RST.
  void reset();
  /// Each send leaves as a segment of its own.
  void set_no_delay();
  ConnectionEnds ends(bool tester_connected) const;

 private:
  int descriptor_ = -1;
};

class TcpListener {
 public:
  /// On `address`, empty for all, on a port that the system chooses. Throws a runtime_error.
  explicit TcpListener(const std::string& address);
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;
  ~TcpListener();
  std::uint16_t port() const { return port_; }
  std::optional<Tcp> accept(milliseconds timeout);

 private:
  int descriptor_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace iwarp::conform
