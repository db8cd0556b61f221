#include "tcp_offload/capture_reader.hpp"

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace iwarp::tcp_offload::test {
namespace {

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

std::vector<std::byte> copy_of(ConstBytes bytes) { return {bytes.begin(), bytes.end()}; }

// Ones' complement sum with the checksum included: all ones if it is good.
bool sums_up(std::uint64_t sum, ConstBytes bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sum += std::to_integer<std::uint64_t>(bytes[i]) << (i % 2 == 0 ? 8U : 0U);
  }
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16U);
  return sum == 0xFFFF;
}

std::uint64_t plain_sum(ConstBytes bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) sum += load_be<std::uint16_t>(&bytes[i]);
  return sum;
}

void take_tcp(Packet& packet, ConstBytes tcp) {
  require(tcp.size() >= 20, "a TCP header that is cut");
  packet.source_port = load_be<std::uint16_t>(&tcp[0]);
  packet.target_port = load_be<std::uint16_t>(&tcp[2]);
  packet.sequence = load_be<std::uint32_t>(&tcp[4]);
  packet.acknowledgement = load_be<std::uint32_t>(&tcp[8]);
  packet.flags = std::to_integer<unsigned>(tcp[13]);
  packet.payload = copy_of(tcp.subspan((std::to_integer<std::size_t>(tcp[12]) >> 4U) * 4));
  packet.good_checksums =
      packet.good_checksums &&
      sums_up(plain_sum(packet.source) + plain_sum(packet.target) + 6 + tcp.size(), tcp);
}

void take_ip(Packet& packet, ConstBytes ip) {
  require(ip.size() >= 20, "an IP header that is cut");
  packet.ip_version = std::to_integer<unsigned>(ip[0]) >> 4U;
  if (packet.ip_version == 4) {
    require(load_be<std::uint16_t>(&ip[2]) == ip.size(), "an IPv4 length that is wrong");
    packet.good_checksums = sums_up(0, ip.first(20));
    packet.source = copy_of(ip.subspan(12, 4));
    packet.target = copy_of(ip.subspan(16, 4));
    return take_tcp(packet, ip.subspan(20));
  }
  require(packet.ip_version == 6 && ip.size() >= 40, "neither IPv4 nor IPv6");
  require(load_be<std::uint16_t>(&ip[4]) + 40U == ip.size(), "an IPv6 length that is wrong");
  packet.good_checksums = true;
  packet.source = copy_of(ip.subspan(8, 16));
  packet.target = copy_of(ip.subspan(24, 16));
  take_tcp(packet, ip.subspan(40));
}

Packet packet_of(ConstBytes body) {
  Packet packet;
  require(load_le<std::uint32_t>(&body[0]) == 0, "an interface that is not there");
  packet.time =
      std::uint64_t{load_le<std::uint32_t>(&body[4])} << 32U | load_le<std::uint32_t>(&body[8]);
  const auto size = load_le<std::uint32_t>(&body[12]);
  require(size == load_le<std::uint32_t>(&body[16]), "a packet that was cut");
  const ConstBytes options = body.subspan(20 + size + pad_to_4(size));
  require(options.size() == 12 && load_le<std::uint16_t>(&options[0]) == 2, "no packet flags");
  packet.outbound = load_le<std::uint32_t>(&options[4]) == 2;
  take_ip(packet, body.subspan(20, size));
  return packet;
}

}  // namespace

std::vector<Packet> packets_of(ConstBytes file) {
  std::vector<Packet> packets;
  for (std::size_t block = 0; !file.empty(); ++block) {
    require(file.size() >= 12, "a block that is cut");
    const auto type = load_le<std::uint32_t>(&file[0]);
    const auto length = load_le<std::uint32_t>(&file[4]);
    require(length <= file.size() && length % 4 == 0, "a block that is cut");
    require(load_le<std::uint32_t>(&file[length - 4]) == length, "two lengths that differ");
    require((block == 0) == (type == 0x0A0D0D0A), "a section header in a wrong place");
    require((block == 1) == (type == 1), "an interface in a wrong place");
    if (type == 6) packets.push_back(packet_of(file.subspan(8, length - 12)));
    file = file.subspan(length);
  }
  return packets;
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return copy_of(std::as_bytes(std::span(text)));
}

std::vector<std::byte> carried(const std::vector<Packet>& packets, bool outbound) {
  std::vector<std::byte> all;
  std::uint32_t next[2] = {};
  for (const Packet& packet : packets) {
    std::uint32_t& mine = next[packet.outbound ? 1 : 0];
    const std::uint32_t theirs = next[packet.outbound ? 0 : 1];
    require(packet.sequence == mine, "a gap in the sequence numbers");
    if ((packet.flags & kAck) != 0) {
      require(packet.acknowledgement == theirs, "an acknowledgement of something else");
    }
    const bool counts = (packet.flags & (kSyn | kFin)) != 0;
    mine += static_cast<std::uint32_t>(packet.payload.size()) + (counts ? 1U : 0U);
    if (packet.outbound != outbound) continue;
    all.insert(all.end(), packet.payload.begin(), packet.payload.end());
  }
  return all;
}

ScratchDirectory::ScratchDirectory() {
  std::string name = std::filesystem::temp_directory_path() / "iwarp-capture-XXXXXX";
  require(::mkdtemp(name.data()) != nullptr, "no scratch directory");
  path_ = name;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::filesystem::path> ScratchDirectory::files() const {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace iwarp::tcp_offload::test
