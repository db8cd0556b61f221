#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "iwarp/base/export.hpp"
#include "iwarp/verbs/error.hpp"

/// Where the ends of a connection are. Address and Endpoint convert to and from those of Asio, of
/// Boost or without, and need none of its headers: they go by what its types can do.
namespace iwarp::verbs {

class Endpoint;

namespace detail {

// As asio::ip::address_v4 (4 octets) and address_v6 (16).
template <typename A, std::size_t octets>
concept AddressOf = requires(const A& a) {
  { a.to_bytes() } -> std::same_as<std::array<unsigned char, octets>>;
};
// As asio::ip::address.
template <typename A>
concept AddressOfEither = requires(const A& a) {
  { a.is_v6() } -> std::same_as<bool>;
  { a.to_v4() } -> AddressOf<4>;
  { a.to_v6() } -> AddressOf<16>;
};
template <typename A>
concept AsioAddress = AddressOf<A, 4> || AddressOf<A, 16> || AddressOfEither<A>;
// As asio::ip::tcp.
template <typename P>
concept Protocol = requires(const P& p) {
  { p.family() } -> std::same_as<int>;
};
// As asio::ip::tcp::endpoint.
template <typename E>
concept SocketAddress =
    !std::same_as<E, Endpoint> && std::default_initializable<E> && requires(E & e, const E& c) {
  { e.data() } -> std::same_as<sockaddr*>;
  { c.data() } -> std::same_as<const sockaddr*>;
  { c.size() } -> std::convertible_to<std::size_t>;
  { c.port() } -> std::convertible_to<std::uint16_t>;
  e.resize(std::size_t{});
};

}  // namespace detail

/// An IPv4 or IPv6 address, the latter with the zone that it counts in (RFC 4007). A value; ordered
/// as Asio's are: IPv4 first, then by octets and zone.
class IWARP_API Address {
 public:
  /// 0.0.0.0
  constexpr Address() = default;
  /// IPv4, in network order.
  constexpr explicit Address(const std::array<std::uint8_t, 4>& octets)
      : octets_{octets[0], octets[1], octets[2], octets[3]} {}
  /// IPv6, in network order; `scope` is the zone's number, of an interface: 0 is none.
  constexpr explicit Address(const std::array<std::uint8_t, 16>& octets, std::uint32_t scope = 0)
      : v6_(true), octets_(octets), scope_(scope) {}
  /// One of Asio's. Implicit by intention, as all of these conversions.
  template <detail::AddressOf<4> A>
  Address(const A& from) : Address(from.to_bytes()) {}
  /// Likewise.
  template <detail::AddressOf<16> A>
  Address(const A& from) : Address(from.to_bytes(), static_cast<std::uint32_t>(from.scope_id())) {}
  /// Likewise.
  template <detail::AddressOfEither A>
  Address(const A& from) : Address(from.is_v6() ? Address(from.to_v6()) : Address(from.to_v4())) {}
  /// As Asio's.
  template <detail::AddressOfEither A>
  operator A() const {
    using V4 = std::remove_cvref_t<decltype(std::declval<const A&>().to_v4())>;
    using V6 = std::remove_cvref_t<decltype(std::declval<const A&>().to_v6())>;
    return v6_ ? A(V6(octets_, scope_)) : A(V4(v4_octets()));
  }

  /// Reads "192.0.2.1", "2001:db8::1", or "fe80::1%eth0" with the name or the number of an
  /// interface; no names of hosts. Errors: EINVAL, ENODEV for an interface that is not there.
  static Outcome<Address> parse(std::string_view text);
  static Address loopback() {
    return Address(std::array<std::uint8_t, 4>{127, 0, 0, 1});
  }  ///< Of IPv4.

  [[nodiscard]] constexpr bool is_v4() const { return !v6_; }  ///< Its family.
  [[nodiscard]] constexpr bool is_v6() const { return v6_; }   ///< Its family.
  /// Whether it is 0.0.0.0 or ::, which stand for any.
  [[nodiscard]] bool is_unspecified() const { return octets_ == std::array<std::uint8_t, 16>{}; }
  /// Whether it is this host's own: 127.0.0.0/8 or ::1.
  [[nodiscard]] bool is_loopback() const;
  /// Whether it is an IPv4 address inside an IPv6 address (IPv4-mapped, RFC 4291 §2.5.5.2).
  [[nodiscard]] bool is_v4_mapped() const;
  /// That IPv4 address. Precondition: is_v4_mapped().
  [[nodiscard]] Address mapped_v4() const {
    return Address(std::array<std::uint8_t, 4>{octets_[12], octets_[13], octets_[14], octets_[15]});
  }
  /// In network order: 16 of IPv6, or 4 of IPv4 and then zeros.
  [[nodiscard]] constexpr const std::array<std::uint8_t, 16>& octets() const { return octets_; }
  /// The octets of IPv4. Precondition: is_v4().
  [[nodiscard]] std::array<std::uint8_t, 4> v4_octets() const {
    return {octets_[0], octets_[1], octets_[2], octets_[3]};
  }
  /// The zone's number; 0 is none.
  [[nodiscard]] constexpr std::uint32_t scope_id() const { return scope_; }
  /// As parse() takes it back.
  [[nodiscard]] std::string to_string() const;

  constexpr bool operator==(const Address&) const = default;   ///< All of it.
  constexpr auto operator<=>(const Address&) const = default;  ///< The order said above.
  /// With one of Asio's, for which both would do.
  template <detail::AsioAddress A>
  friend bool operator==(const Address& a, const A& b) {
    return a == Address(b);
  }
  /// Likewise.
  template <detail::AsioAddress A>
  friend std::strong_ordering operator<=>(const Address& a, const A& b) {
    return a <=> Address(b);
  }

 private:
  bool v6_ = false;
  std::array<std::uint8_t, 16> octets_{};
  std::uint32_t scope_ = 0;
};

/// An Address and a TCP port, as system calls take them: a sockaddr_in or sockaddr_in6. A value,
/// ordered by address and port.
class IWARP_API Endpoint {
 public:
  /// Port 0 of 0.0.0.0: none in particular.
  Endpoint() : Endpoint(Address(), 0) {}
  /// As it says.
  Endpoint(const Address& address, std::uint16_t port);
  /// The unspecified address of a protocol, as boost::asio::ip::tcp::v6().
  template <detail::Protocol P>
  Endpoint(const P& protocol, std::uint16_t port)
      : Endpoint(
            protocol.family() == AF_INET6 ? Address(std::array<std::uint8_t, 16>{}) : Address(),
            port) {}
  /// One of Asio's. Implicit by intention, as the way back.
  template <detail::SocketAddress E>
  Endpoint(const E& from) {
    const std::size_t octets = from.size();
    std::memcpy(&at_, from.data(), octets < sizeof at_ ? octets : sizeof at_);
  }
  /// As Asio's.
  template <detail::SocketAddress E>
  operator E() const {
    E to;
    to.resize(size());
    std::memcpy(to.data(), data(), size());
    return to;
  }

  /// Reads "192.0.2.1:7471" or "[fe80::1%eth0]:7471". Errors: as Address::parse(), EINVAL without a
  /// port from 0 to 65535.
  static Outcome<Endpoint> parse(std::string_view text);

  [[nodiscard]] Address address() const;  ///< Without the port.
  [[nodiscard]] std::uint16_t port() const { return ntohs(at_.v4.sin_port); }  ///< In host order.
  /// AF_INET or AF_INET6.
  [[nodiscard]] int family() const { return at_.v4.sin_family; }
  /// For system calls; valid as long as this object.
  [[nodiscard]] const sockaddr* data() const { return &at_.any; }
  /// For system calls that write up to capacity() octets; resize() then says how many they were.
  [[nodiscard]] sockaddr* data() { return &at_.any; }
  /// The octets of the larger family.
  [[nodiscard]] static constexpr std::size_t capacity() { return sizeof(sockaddr_in6); }
  /// Ends such a call: what it has written counts if it is of a family, whole; else this is
  /// Endpoint().
  void resize(std::size_t octets);
  /// Its octets.
  [[nodiscard]] socklen_t size() const {
    return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  }
  /// As parse() takes it back.
  [[nodiscard]] std::string to_string() const;

  /// The same address and port.
  friend bool operator==(const Endpoint& a, const Endpoint& b) {
    return a.port() == b.port() && a.address() == b.address();
  }
  /// By address, then by port.
  friend std::strong_ordering operator<=>(const Endpoint& a, const Endpoint& b) {
    const auto order = a.address() <=> b.address();
    return order != 0 ? order : a.port() <=> b.port();
  }
  /// With one of Asio's, for which both would do.
  template <detail::SocketAddress E>
  friend bool operator==(const Endpoint& a, const E& b) {
    return a == Endpoint(b);
  }
  /// Likewise.
  template <detail::SocketAddress E>
  friend std::strong_ordering operator<=>(const Endpoint& a, const E& b) {
    return a <=> Endpoint(b);
  }

 private:
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } at_{.v6 = {}};
};

/// to_string(), for streams.
IWARP_API std::ostream& operator<<(std::ostream& to, const Address& address);
/// Likewise.
IWARP_API std::ostream& operator<<(std::ostream& to, const Endpoint& endpoint);

}  // namespace iwarp::verbs
