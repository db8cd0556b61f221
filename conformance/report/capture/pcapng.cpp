#include "report/capture/pcapng.hpp"

namespace iwarp::conform {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0A0D0D0A, kInterface = 1, kEnhancedPacket = 6,
                        kByteOrderMagic = 0x1A2B3C4D;
constexpr std::uint16_t kEthernet = 1;
constexpr std::uint16_t kEndOfOptions = 0, kComment = 1, kUserApplication = 4, kTimeResolution = 9,
                        kPacketFlags = 2;
constexpr std::uint8_t kNanoseconds = 9;
constexpr std::uint32_t kInbound = 1, kOutbound = 2;
constexpr std::size_t kLongestOption = 0xFFFF;

void pad(Octets& octets) { octets.resize((octets.size() + 3) / 4 * 4); }

void put_option(Octets& body, std::uint16_t code, OctetView value) {
  put16(body, code);
  put16(body, static_cast<std::uint16_t>(value.size()));
  put(body, value);
  pad(body);
}

void put_block(Octets& file, std::uint32_t type, Octets body) {
  put_option(body, kEndOfOptions, {});
  const auto size = static_cast<std::uint32_t>(body.size() + 12);
  put32(file, type);
  put32(file, size);
  put(file, body);
  put32(file, size);
}

Octets text(std::string_view from) { return octets(from.substr(0, kLongestOption)); }

}  // namespace

PcapngWriter::PcapngWriter(std::string_view application, std::string_view comment) {
  Octets section;
  put32(section, kByteOrderMagic);
  put16(section, 1);  // version 1.0
  put16(section, 0);
  put64(section, ~std::uint64_t{0});  // the section's length is not told
  put_option(section, kComment, text(comment));
  put_option(section, kUserApplication, text(application));
  put_block(file_, kSectionHeader, std::move(section));

  Octets interface;
  put16(interface, kEthernet);
  put16(interface, 0);
  put32(interface, 0);  // packets are whole
  put_option(interface, kTimeResolution, OctetView(&kNanoseconds, 1));
  put_block(file_, kInterface, std::move(interface));
}

void PcapngWriter::add(OctetView frame, WallTime time, bool inbound) {
  Octets body;
  put32(body, 0);  // the interface
  put64(body,
        static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count()));
  put32(body, static_cast<std::uint32_t>(frame.size()));
  put32(body, static_cast<std::uint32_t>(frame.size()));
  put(body, frame);
  pad(body);
  Octets flags;
  put32(flags, inbound ? kInbound : kOutbound);
  put_option(body, kPacketFlags, flags);
  put_block(file_, kEnhancedPacket, std::move(body));
}

}  // namespace iwarp::conform
