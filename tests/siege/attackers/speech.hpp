#pragma once

#include <optional>
#include <string_view>

#include "wire/startup_frame.hpp"

/// What an attacker says on the wire. Nothing of the stack is used: the octets are those of the
/// conformance suite's tester.
namespace iwarp::siege {

using conform::Octets;
using conform::OctetView;

/// Whose protocol the attackers speak once they are connected.
enum class Server : std::uint8_t { kServe, kAsio, kRping, kVerbs };
std::optional<Server> server_named(std::string_view name);

/// How a connection starts up: revision 1 of RFC 5044, or peer to peer by RFC 6581, where the
/// initiator's first FPDU is the named message without octets.
enum class Mode : std::uint8_t { kRevision1, kSendRtr, kWriteRtr, kReadRtr };
inline constexpr std::size_t kModes = 4;

/// The whole MPA Request, with the private data that the server wants to see.
Octets mpa_request(Server server, Mode mode);

/// The FPDUs of a connection in their order; it counts their MSNs.
class Speech {
 public:
  Speech(Server server, Mode mode) : server_(server), mode_(mode) {}

  /// The first FPDU of a mode: the RTR, or in revision 1 nothing, as any message will do.
  Octets ready();
  /// Messages that the server takes, and to which it has as much to say as can be had of it.
  Octets requests(const conform::StartupFrame& reply);
  /// The first half of an FPDU as large as one can be.
  Octets half_fpdu();
  /// A Terminate that says that there was no buffer for a message (RFC 5041 §7.1).
  Octets terminate();

 private:
  Octets send(Octets payload);
  Octets read(OctetView advertised);
  Octets file_requests();
  Octets reads(const conform::StartupFrame& reply);

  Server server_;
  Mode mode_;
  std::uint32_t sends_ = 0, reads_ = 0;
};

}  // namespace iwarp::siege
