#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/pcapng.hpp"
#include "iwarp/tcp_offload/stream.hpp"

namespace iwarp::tcp_offload::capture {

/// The two ends of the connection; kLocal is the one that records.
enum class End : std::uint8_t { kLocal, kRemote };
constexpr End other(End end) { return end == End::kLocal ? End::kRemote : End::kLocal; }

/// Tells a TCP connection in packets, made up around the octets that really moved: a handshake,
/// segments with the right sequence and acknowledgement numbers, FIN or RST; checksums are good.
/// Every call appends to a pcapng file, whose head the first one writes.
class Transcript {
 public:
  /// The most octets of a segment: an IPv4 packet has room for them.
  static constexpr std::size_t kMaxSegment = 65'000;

  Transcript(const Endpoint& local, const Endpoint& remote);

  /// The three-way handshake, begun by `opener`. Without it the end that sends first is the opener.
  void open(End opener, WallTime now, std::vector<std::byte>& file);
  /// The first `size` octets of `pieces`, sent by `from`.
  void data(End from, std::span<const iovec> pieces, std::size_t size, WallTime now,
            std::vector<std::byte>& file);
  /// The end of what `from` sends. A second one is dropped.
  void finish(End from, WallTime now, std::vector<std::byte>& file);
  /// The end of the connection; whatever follows is dropped.
  void reset(End from, WallTime now, std::vector<std::byte>& file);

 private:
  struct Side {
    std::array<std::byte, 16> address{};
    std::uint16_t port = 0;
    std::uint32_t next = 0;            // sequence number
    std::uint64_t unacknowledged = 0;  // octets since the other end's last packet
    bool finished = false;
  };

  Side& side(End end) { return sides_[static_cast<std::size_t>(end)]; }
  [[nodiscard]] bool says(End from, WallTime now, std::vector<std::byte>& file);
  /// Appends one packet; returns the place of its payload. seal() must follow.
  MutableBytes packet(End from, unsigned flags, std::size_t payload, WallTime now,
                      std::vector<std::byte>& file);
  void seal(End from, MutableBytes payload);
  void bare(End from, unsigned flags, WallTime now, std::vector<std::byte>& file);
  [[nodiscard]] std::size_t ip_size() const { return is_v6_ ? 40 : 20; }
  void put_ip(End from, std::byte* at, std::size_t size);

  const bool is_v6_;
  std::array<Side, 2> sides_;
  std::uint16_t identification_ = 0;
  bool opened_ = false;
  bool over_ = false;
  std::size_t header_size_ = 0;  // of the last packet, in front of its payload
};

}  // namespace iwarp::tcp_offload::capture
