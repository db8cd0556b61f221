#include "iwarp/verbs/endpoint.hpp"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <ostream>

namespace iwarp::verbs {
namespace {

Failure<Error> wrong(std::string_view text, std::string_view why) {
  return fail(std::errc::invalid_argument, "'" + std::string(text) + "' " + std::string(why));
}

// The whole of `digits`, or nothing.
template <typename Number>
std::optional<Number> number_of(std::string_view digits) {
  Number number{};
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

// The address as inet_pton(3) reads it, which wants a string that ends.
template <std::size_t octets>
std::optional<std::array<std::uint8_t, octets>> octets_of(int family, std::string_view text) {
  std::array<std::uint8_t, octets> read{};
  const bool good = ::inet_pton(family, std::string(text).c_str(), read.data()) == 1;
  return good ? std::optional(read) : std::nullopt;
}

// Those whose zone is an interface that has a name: link-local ones, also for groups.
bool is_of_a_link(const std::array<std::uint8_t, 16>& octets) {
  const bool unicast = octets[0] == 0xfe && (octets[1] & 0xc0U) == 0x80;
  const bool group = octets[0] == 0xff && (octets[1] & 0x0fU) == 0x02;
  return unicast || group;
}

std::string zone_name(const Address& address) {
  std::array<char, IF_NAMESIZE> name{};
  const bool named = is_of_a_link(address.octets()) &&
                     ::if_indextoname(address.scope_id(), name.data()) != nullptr;
  return named ? std::string(name.data()) : std::to_string(address.scope_id());
}

}  // namespace

Outcome<Address> Address::parse(std::string_view text) {
  if (const auto v4 = octets_of<4>(AF_INET, text)) return Address(*v4);
  const auto percent = text.find('%');
  const auto v6 = octets_of<16>(AF_INET6, text.substr(0, percent));
  if (!v6) return wrong(text, "is neither an IPv4 nor an IPv6 address");
  if (percent == std::string_view::npos) return Address(*v6);
  const std::string zone(text.substr(percent + 1));
  if (const auto number = number_of<std::uint32_t>(zone)) return Address(*v6, *number);
  if (const unsigned index = ::if_nametoindex(zone.c_str())) return Address(*v6, index);
  return fail(std::errc::no_such_device,
              "'" + std::string(text) + "' names the interface '" + zone + "', which is not there");
}

bool Address::is_loopback() const {
  if (!v6_) return octets_[0] == 127;
  std::array<std::uint8_t, 16> own{};
  own.back() = 1;
  return octets_ == own;
}

bool Address::is_v4_mapped() const {
  constexpr std::array<std::uint8_t, 12> kPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return v6_ && std::equal(kPrefix.begin(), kPrefix.end(), octets_.begin());
}

std::string Address::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(v6_ ? AF_INET6 : AF_INET, octets_.data(), text.data(), text.size());
  const std::string address(text.data());
  return scope_ == 0 ? address : address + '%' + zone_name(*this);
}

Endpoint::Endpoint(const Address& address, std::uint16_t port) {
  if (address.is_v6()) {
    at_.v6.sin6_family = AF_INET6;
    at_.v6.sin6_port = htons(port);
    at_.v6.sin6_scope_id = address.scope_id();
    std::memcpy(&at_.v6.sin6_addr, address.octets().data(), sizeof at_.v6.sin6_addr);
  } else {
    at_.v4.sin_family = AF_INET;
    at_.v4.sin_port = htons(port);
    std::memcpy(&at_.v4.sin_addr, address.octets().data(), sizeof at_.v4.sin_addr);
  }
}

Outcome<Endpoint> Endpoint::parse(std::string_view text) {
  const auto colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (colon == std::string_view::npos || bracketed != (host.find(':') != std::string_view::npos)) {
    return wrong(text, "is not of the form IPV4:PORT or [IPV6]:PORT");
  }
  const auto port = number_of<std::uint16_t>(text.substr(colon + 1));
  if (!port) return wrong(text, "has no port from 0 to 65535");
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto address = Address::parse(host);
  if (!address) return failure(address.error());
  return Endpoint(*address, *port);
}

void Endpoint::resize(std::size_t octets) {
  const bool v4 = family() == AF_INET && octets >= sizeof(sockaddr_in);
  const bool v6 = family() == AF_INET6 && octets >= sizeof(sockaddr_in6);
  if (!v4 && !v6) *this = Endpoint();
}

Address Endpoint::address() const {
  if (family() == AF_INET6) {
    std::array<std::uint8_t, 16> octets{};
    std::memcpy(octets.data(), &at_.v6.sin6_addr, octets.size());
    return Address(octets, at_.v6.sin6_scope_id);
  }
  std::array<std::uint8_t, 4> octets{};
  std::memcpy(octets.data(), &at_.v4.sin_addr, octets.size());
  return Address(octets);
}

std::string Endpoint::to_string() const {
  const std::string at = address().to_string();
  const std::string behind = ':' + std::to_string(port());
  return family() == AF_INET6 ? '[' + at + ']' + behind : at + behind;
}

std::ostream& operator<<(std::ostream& to, const Address& address) {
  return to << address.to_string();
}

std::ostream& operator<<(std::ostream& to, const Endpoint& endpoint) {
  return to << endpoint.to_string();
}

}  // namespace iwarp::verbs
