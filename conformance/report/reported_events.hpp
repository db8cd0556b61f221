#pragma once

#include <vector>

#include "decode/decode.hpp"

namespace iwarp::conform {

/// An event of a case as reports have it.
struct ReportedEvent {
  Event event;
  Decoded decoded;
  /// kRaw*: all its octets stand in frames that are reported, too. Other octets of the socket have
  /// events of their own.
  bool framed = false;
};

/// The events of a transcript. Received octets that the case has not looked at are reported, too:
/// as FPDUs as far as they are whole, behind the read that brought them; the rest as octets.
std::vector<ReportedEvent> reported_events(const Transcript& transcript);

}  // namespace iwarp::conform
