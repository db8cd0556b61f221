#include "report/capture/tcp_packets.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace iwarp::conform {
namespace {

constexpr std::uint8_t kFin = 0x01, kSyn = 0x02, kRst = 0x04, kPsh = 0x08, kAck = 0x10;
constexpr std::uint8_t kTcp = 6, kHops = 64;
constexpr std::uint16_t kIpv4 = 0x0800, kIpv6 = 0x86DD;
constexpr std::size_t kV4Size = 4, kTcpChecksumAt = 16, kIpChecksumAt = 10;
constexpr std::size_t kLongestSegment = std::size_t{32} << 10;
constexpr std::uint16_t kWindow = 0xFFFF;
// What a SYN offers: the segments of this capture, and a window that no case fills.
constexpr std::uint32_t kMssOption = 2U << 24 | 4U << 16 | kLongestSegment;
constexpr std::uint32_t kWindowScaleOption = 1U << 24 | 3U << 16 | 3U << 8 | 14U;

// The sum of the Internet checksum (RFC 1071), not folded yet.
std::uint64_t sum_of(OctetView octets) {
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (; at + 2 <= octets.size(); at += 2) sum += get16(octets, at);
  if (at < octets.size()) sum += std::uint64_t{octets[at]} << 8;
  return sum;
}

void put_checksum(Octets& octets, std::size_t at, std::uint64_t sum) {
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  const auto checksum = static_cast<std::uint16_t>(~sum);
  octets[at] = static_cast<std::uint8_t>(checksum >> 8);
  octets[at + 1] = static_cast<std::uint8_t>(checksum);
}

Octets mapped(const Octets& v4) {
  Octets octets(10, 0);
  octets.insert(octets.end(), 2, 0xFF);
  put(octets, v4);
  return octets;
}

}  // namespace

std::optional<Octets> address_octets(std::string_view address) {
  const std::string text(address.substr(0, address.find('%')));  // without the interface
  Octets octets(kV4Size);
  if (::inet_pton(AF_INET, text.c_str(), octets.data()) == 1) return octets;
  octets.resize(16);
  if (::inet_pton(AF_INET6, text.c_str(), octets.data()) == 1) return octets;
  return std::nullopt;
}

TcpPackets::TcpPackets(const ConnectionEnds& ends, std::uint16_t number, PcapngWriter& file)
    : opener_(ends.tester_connected ? Side::kTester : Side::kTarget), file_(file) {
  // Where an end is not known it gets an address for documentation (RFC 5737 §3), and the octets
  // can be read all the same.
  tester_.address = address_octets(ends.tester_address).value_or(Octets{192, 0, 2, 1});
  target_.address = address_octets(ends.target_address).value_or(Octets{192, 0, 2, 2});
  if (tester_.address.size() != target_.address.size()) {
    End& v4 = tester_.address.size() == kV4Size ? tester_ : target_;
    v4.address = mapped(v4.address);
  }
  tester_.port =
      ends.tester_port != 0 ? ends.tester_port : static_cast<std::uint16_t>(49152 + number);
  target_.port =
      ends.target_port != 0 ? ends.target_port : static_cast<std::uint16_t>(50152 + number);
  tester_.mac = {2, 0, 0, 0, 0, 1};
  target_.mac = {2, 0, 0, 0, 0, 2};
  tester_.next = 1000;
  target_.next = 5000;
}

void TcpPackets::handshake(WallTime time) {
  packet(opener_, kSyn, {}, time);
  packet(other(opener_), kSyn | kAck, {}, time);
  packet(opener_, kAck, {}, time);
}

void TcpPackets::data(Side from, OctetView octets, WallTime time) {
  while (says(from) && !octets.empty()) {
    const std::size_t size = std::min(octets.size(), kLongestSegment);
    packet(from, kPsh | kAck, octets.first(size), time);
    octets = octets.subspan(size);
  }
}

void TcpPackets::finish(Side from, WallTime time) {
  if (!says(from)) return;
  packet(from, kFin | kAck, {}, time);
  end(from).finished = true;
  packet(other(from), kAck, {}, time);
}

void TcpPackets::reset(Side from, WallTime time) {
  if (over_) return;
  packet(from, kRst | kAck, {}, time);
  over_ = true;
}

void TcpPackets::packet(Side from, std::uint8_t flags, OctetView payload, WallTime time) {
  End& sender = end(from);
  const End& receiver = end(other(from));
  const Octets segment = tcp(sender, receiver, flags, payload);
  Octets frame;
  put(frame, receiver.mac);
  put(frame, sender.mac);
  put16(frame, sender.address.size() == kV4Size ? kIpv4 : kIpv6);
  put(frame, ip(sender, receiver, segment.size()));
  put(frame, segment);
  file_.add(frame, time, from == Side::kTarget);
  sender.next +=
      static_cast<std::uint32_t>(payload.size()) + ((flags & (kSyn | kFin)) != 0 ? 1 : 0);
}

// The checksum covers a pseudo header, too (RFC 9293 §3.1, RFC 8200 §8.1).
Octets TcpPackets::tcp(const End& from, const End& to, std::uint8_t flags,
                       OctetView payload) const {
  const bool syn = (flags & kSyn) != 0;
  Octets segment;
  put16(segment, from.port);
  put16(segment, to.port);
  put32(segment, from.next);
  put32(segment, (flags & kAck) != 0 ? to.next : 0);
  segment.push_back(syn ? 0x70 : 0x50);  // words of the header
  segment.push_back(flags);
  put16(segment, kWindow);
  put32(segment, 0);  // checksum, urgent pointer
  if (syn) {
    put32(segment, kMssOption);
    put32(segment, kWindowScaleOption);
  }
  put(segment, payload);
  put_checksum(segment, kTcpChecksumAt,
               sum_of(from.address) + sum_of(to.address) + kTcp + segment.size() + sum_of(segment));
  return segment;
}

Octets TcpPackets::ip(const End& from, const End& to, std::size_t payload) {
  Octets header;
  if (from.address.size() == kV4Size) {
    put16(header, 0x4500);
    put16(header, static_cast<std::uint16_t>(20 + payload));
    put16(header, identification_++);
    put16(header, 0x4000);  // not to be fragmented
    header.push_back(kHops);
    header.push_back(kTcp);
    put16(header, 0);  // checksum
    put(header, from.address);
    put(header, to.address);
    put_checksum(header, kIpChecksumAt, sum_of(header));
    return header;
  }
  put32(header, 6U << 28);
  put16(header, static_cast<std::uint16_t>(payload));
  header.push_back(kTcp);
  header.push_back(kHops);
  put(header, from.address);
  put(header, to.address);
  return header;
}

}  // namespace iwarp::conform
