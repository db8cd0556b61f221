#pragma once

#include <chrono>
#include <string_view>

#include "wire/octets.hpp"

namespace iwarp::conform {

using WallTime = std::chrono::system_clock::time_point;

/// Makes a pcapng file of one Ethernet interface, in big-endian order, which the format allows. The
/// stack writes its captures by code of its own: the tester links nothing of what it tests.
class PcapngWriter {
 public:
  /// `application`: what made it; `comment`: what it shows.
  PcapngWriter(std::string_view application, std::string_view comment);
  /// An Ethernet frame that the tester received (`inbound`) or sent.
  void add(OctetView frame, WallTime time, bool inbound);
  Octets take() { return std::move(file_); }

 private:
  Octets file_;
};

}  // namespace iwarp::conform
