#pragma once

#include <vector>

#include "decode/decode.hpp"

namespace iwarp::conform {

/// An event of a case as the reader gets it.
struct Told {
  Event event;
  Decoded decoded;
  /// kRaw*: all its octets stand in frames that are told, too. Other octets of the socket have
  /// events of their own.
  bool framed = false;
};

/// The events of a transcript. Received octets that the case has not looked at are told, too: as
/// FPDUs as far as they are whole, behind the read that brought them; the rest as octets.
std::vector<Told> story_of(const Transcript& transcript);

}  // namespace iwarp::conform
