#include "capture/pcapng.hpp"

#include <algorithm>
#include <string_view>

namespace iwarp::tcp_offload::capture {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0A0D0D0A;
constexpr std::uint32_t kInterface = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1A2B3C4D;
constexpr std::uint16_t kLinkTypeRaw = 101;  // an IPv4 or IPv6 packet, which one its version says

// Options: a code, a length, the value, padding to four.
constexpr std::uint16_t kUserApplication = 4;
constexpr std::uint16_t kTimeResolution = 9;
constexpr std::uint16_t kPacketFlags = 2;
constexpr std::byte kNanoseconds{9};  // 10 to the power of -9 seconds
constexpr std::size_t kEndOfOptions = 4;

// The places of an enhanced packet block's fields.
constexpr std::size_t kTimeHighAt = 12;
constexpr std::size_t kTimeLowAt = 16;
constexpr std::size_t kCapturedAt = 20;
constexpr std::size_t kOriginalAt = 24;
constexpr std::size_t kPacketAt = 28;

std::size_t padded(std::size_t size) { return size + pad_to_4(size); }

// Makes room for a block of `body` octets between its head and its tail; returns the whole of it.
std::byte* append_block(std::vector<std::byte>& file, std::uint32_t type, std::size_t body) {
  constexpr std::size_t kFrame = 12;  // type, length, and the length once more
  const std::size_t start = file.size();
  const auto length = static_cast<std::uint32_t>(kFrame + body);
  file.resize(start + length);
  std::byte* block = file.data() + start;
  store_le(block, type);
  store_le(block + 4, length);
  store_le(block + length - 4, length);
  return block;
}

void put_option(std::byte* at, std::uint16_t code, ConstBytes value) {
  store_le(at, code);
  store_le(at + 2, static_cast<std::uint16_t>(value.size()));
  std::copy(value.begin(), value.end(), at + 4);
}

}  // namespace

void append_section_header(std::vector<std::byte>& file) {
  constexpr std::string_view kWriter = "iwarp";
  std::byte* block =
      append_block(file, kSectionHeader, 16 + 4 + padded(kWriter.size()) + kEndOfOptions);
  store_le(block + 8, kByteOrderMagic);
  store_le(block + 12, std::uint16_t{1});  // version 1.0
  store_le(block + 16, UINT64_MAX);        // the section's length is not stated
  put_option(block + 24, kUserApplication, std::as_bytes(std::span(kWriter)));
}

void append_interface(std::vector<std::byte>& file) {
  std::byte* block = append_block(file, kInterface, 8 + 8 + kEndOfOptions);
  store_le(block + 8, kLinkTypeRaw);
  put_option(block + 16, kTimeResolution, {&kNanoseconds, 1});
}

MutableBytes append_packet(std::vector<std::byte>& file, Direction direction, WallTime when,
                           std::size_t size) {
  std::byte* block = append_block(file, kEnhancedPacket, 20 + padded(size) + 8 + kEndOfOptions);
  const auto time = static_cast<std::uint64_t>(when.count());
  store_le(block + kTimeHighAt, static_cast<std::uint32_t>(time >> 32U));
  store_le(block + kTimeLowAt, static_cast<std::uint32_t>(time));
  store_le(block + kCapturedAt, static_cast<std::uint32_t>(size));
  store_le(block + kOriginalAt, static_cast<std::uint32_t>(size));
  std::byte flags[4];
  store_le(flags, static_cast<std::uint32_t>(direction));
  put_option(block + kPacketAt + padded(size), kPacketFlags, flags);
  return {block + kPacketAt, size};
}

}  // namespace iwarp::tcp_offload::capture
