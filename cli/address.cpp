#include "address.hpp"

#include <boost/algorithm/hex.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <charconv>
#include <iterator>

namespace iwarp::cli {
namespace {

constexpr std::string_view kScheme = "iwarp://";

std::uint16_t parse_port(std::string_view digits, std::string_view whole, PortZero zero) {
  std::uint16_t port = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, port);
  if (error != std::errc{} || stop != end) {
    throw usage_error(fmt::format("'{}' has no port between 1 and 65535", whole));
  }
  if (port == 0 && zero == PortZero::kRefused) {
    throw usage_error(fmt::format("'{}' names port 0, to which no peer can connect", whole));
  }
  return port;
}

/// [V6] or [V6]:PORT.
HostPort parse_bracketed(std::string_view text, PortZero zero, std::uint16_t default_port) {
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos) {
    throw usage_error(fmt::format("'{}' has no ']' behind its IPv6 address", text));
  }
  HostPort address{std::string(text.substr(1, close - 1)), default_port};
  const std::string_view rest = text.substr(close + 1);
  if (address.host.find(':') == std::string::npos || (!rest.empty() && rest.front() != ':')) {
    throw usage_error(fmt::format("'{}' is not of the form [IPV6]:PORT", text));
  }
  if (!rest.empty()) address.port = parse_port(rest.substr(1), text, zero);
  return address;
}

std::string percent_decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    try {
      if (digits.size() < 2) throw boost::algorithm::not_enough_input();
      boost::algorithm::unhex(digits, std::back_inserter(decoded));
    } catch (const boost::algorithm::hex_decode_error&) {
      throw usage_error(fmt::format("'{}' has a '%' without two hexadecimal digits", text));
    }
    i += 2;
  }
  return decoded;
}

}  // namespace

HostPort parse_host_port(std::string_view text, PortZero zero, std::uint16_t default_port) {
  if (!text.empty() && text.front() == '[') return parse_bracketed(text, zero, default_port);
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && text.find(':', colon + 1) != std::string_view::npos) {
    throw usage_error(fmt::format("'{}' has to be written as [IPV6]:PORT", text));
  }
  HostPort address{std::string(text.substr(0, colon)), default_port};
  if (address.host.empty()) throw usage_error(fmt::format("'{}' names no host", text));
  if (colon == std::string_view::npos) return address;
  address.port = parse_port(text.substr(colon + 1), text, zero);
  return address;
}

std::string to_string(const HostPort& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  const std::string host = v6 ? "[" + address.host + "]" : address.host;
  return fmt::format("{}:{}", host, address.port);
}

std::string to_string(const verbs::Endpoint& endpoint) { return endpoint.to_string(); }

std::vector<verbs::Endpoint> resolve(const HostPort& address) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::resolver resolver(io);
  boost::system::error_code error;
  const auto found = resolver.resolve(address.host, std::to_string(address.port),
                                      boost::asio::ip::resolver_base::numeric_service, error);
  if (error || found.empty()) {
    throw UnknownHost(fmt::format("cannot resolve host '{}': {}", address.host, error.message()));
  }
  std::vector<verbs::Endpoint> endpoints;
  for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  return endpoints;
}

Url parse_url(std::string_view text) {
  if (!text.starts_with(kScheme)) {
    throw usage_error(fmt::format("'{}' is not a URL of the form iwarp://HOST:PORT/NAME", text));
  }
  const std::string_view rest = text.substr(kScheme.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) {
    throw usage_error(fmt::format("'{}' has no '/' behind the host", text));
  }
  try {
    return {parse_host_port(rest.substr(0, slash)), percent_decode(rest.substr(slash + 1))};
  } catch (const CommandError& error) {
    throw usage_error(fmt::format("wrong URL {}: {}", text, error.what()));
  }
}

}  // namespace iwarp::cli
