#pragma once

#include <array>
#include <optional>

#include "harness/transcript.hpp"
#include "report/capture/pcapng.hpp"

namespace iwarp::conform {

/// One TCP connection of a capture: the octets are true, the headers made up as a network without
/// loss would have them.
class TcpPackets {
 public:
  enum class Side { kTester, kTarget };

  TcpPackets(const ConnectionEnds& ends, std::uint16_t number, PcapngWriter& file);

  void handshake(WallTime time);
  void data(Side from, OctetView octets, WallTime time);
  /// The other side acknowledges it.
  void finish(Side from, WallTime time);
  void reset(Side from, WallTime time);

 private:
  struct End {
    Octets address;  // 4 octets or 16
    std::array<std::uint8_t, 6> mac{};
    std::uint16_t port = 0;
    std::uint32_t next = 0;  // sequence number
    bool finished = false;
  };

  End& end(Side side) { return side == Side::kTester ? tester_ : target_; }
  static Side other(Side side) { return side == Side::kTester ? Side::kTarget : Side::kTester; }
  bool says(Side from) { return !over_ && !end(from).finished; }
  void packet(Side from, std::uint8_t flags, OctetView payload, WallTime time);
  Octets tcp(const End& from, const End& to, std::uint8_t flags, OctetView payload) const;
  Octets ip(const End& from, const End& to, std::size_t payload);

  End tester_, target_;
  Side opener_;
  bool over_ = false;
  std::uint16_t identification_ = 0;
  PcapngWriter& file_;
};

/// Octets of a numeric address, 4 or 16; none if it is none.
std::optional<Octets> address_octets(std::string_view address);

}  // namespace iwarp::conform
