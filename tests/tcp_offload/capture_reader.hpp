#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "iwarp/base/bytes.hpp"

/// Reads back what a capture has written, without any of its code.
namespace iwarp::tcp_offload::test {

inline constexpr unsigned kFin = 0x01, kSyn = 0x02, kRst = 0x04, kPsh = 0x08, kAck = 0x10;

struct Packet {
  bool outbound = false;
  std::uint64_t time = 0;  ///< Nanoseconds since 1970.
  unsigned ip_version = 0;
  std::vector<std::byte> source, target;
  std::uint16_t source_port = 0, target_port = 0;
  std::uint32_t sequence = 0, acknowledgement = 0;
  unsigned flags = 0;
  bool good_checksums = false;
  std::vector<std::byte> payload;
};

/// The packets of a pcapng file. Throws std::runtime_error if it is none, or ends within a block.
std::vector<Packet> packets_of(ConstBytes file);
std::vector<std::byte> read_file(const std::filesystem::path& path);

/// What one direction carried. Throws std::runtime_error if sequence numbers leave a gap, or an
/// acknowledgement runs ahead of what was sent.
std::vector<std::byte> carried(const std::vector<Packet>& packets, bool outbound);

/// A directory that goes away.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The files in it, by name.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;

 private:
  std::string path_;
};

}  // namespace iwarp::tcp_offload::test
