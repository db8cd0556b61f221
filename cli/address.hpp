#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "context.hpp"
#include "iwarp/verbs/connection.hpp"

/// Addresses and URLs as people type them. Everything here that takes input throws a CommandError:
/// status 2 for what is malformed, status 1 for a name that does not resolve.
namespace iwarp::cli {

/// The TCP port when none is given.
inline constexpr std::uint16_t kDefaultPort = 7471;

/// A host (name, IPv4 or IPv6 address without brackets) and a TCP port.
struct HostPort {
  std::string host;
  std::uint16_t port = kDefaultPort;
};

/// What a port may be: 0 asks the system for a free one and only makes sense to listen on.
enum class PortZero { kRefused, kAllowed };

/// Parses HOST, HOST:PORT, [V6]:PORT or [V6].
HostPort parse_host_port(std::string_view text, PortZero zero = PortZero::kRefused,
                         std::uint16_t default_port = kDefaultPort);

/// The address written so that parse_host_port() takes it back.
std::string to_string(const HostPort& address);
std::string to_string(const verbs::Endpoint& endpoint);

/// No host is called so, or none answers for its name.
class UnknownHost : public CommandError {
 public:
  using CommandError::CommandError;
};

/// All endpoints of an address, in the system's order of preference; never empty. Throws an
/// UnknownHost.
std::vector<verbs::Endpoint> resolve(const HostPort& address);

/// iwarp://HOST[:PORT]/NAME. The name is percent-decoded and may be empty.
struct Url {
  HostPort server;
  std::string name;
};

/// Parses a URL of the scheme iwarp.
Url parse_url(std::string_view text);

}  // namespace iwarp::cli
