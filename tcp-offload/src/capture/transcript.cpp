#include "capture/transcript.hpp"

#include <algorithm>
#include <cstring>

#include "iwarp/base/guarded_access.hpp"

namespace iwarp::tcp_offload::capture {
namespace {

namespace ip = boost::asio::ip;

constexpr unsigned kFin = 0x01;
constexpr unsigned kSyn = 0x02;
constexpr unsigned kRst = 0x04;
constexpr unsigned kPsh = 0x08;
constexpr unsigned kAck = 0x10;

constexpr std::size_t kTcpSize = 20;
constexpr std::size_t kTcpChecksumAt = 16;
constexpr std::size_t kIpChecksumAt = 10;
constexpr unsigned kTcpProtocol = 6;
constexpr unsigned kHops = 64;

// What a SYN offers: segments of kMaxSegment octets, and the widest window, so that no reader of
// the capture finds it overrun.
constexpr std::size_t kSynOptionsSize = 8;
constexpr std::uint32_t kMssOption = 2U << 24U | 4U << 16U | Transcript::kMaxSegment;
constexpr std::uint32_t kWindowScaleOption = 1U << 24U | 3U << 16U | 3U << 8U | 14U;
constexpr std::uint64_t kAcknowledgeEvery = std::uint64_t{512} << 20U;

// The Internet checksum's sum (RFC 1071), not folded yet.
std::uint64_t sum_of(ConstBytes bytes) {
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (; at + 2 <= bytes.size(); at += 2) sum += load_be<std::uint16_t>(&bytes[at]);
  if (at < bytes.size()) sum += std::to_integer<std::uint64_t>(bytes[at]) << 8U;
  return sum;
}

std::uint16_t checksum_of(std::uint64_t sum) {
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

bool needs_v6(const Endpoint& a, const Endpoint& b) {
  return !a.address().is_v4() || !b.address().is_v4();
}

std::array<std::byte, 16> octets_of(const ip::address& address, bool as_v6) {
  std::array<std::byte, 16> octets{};
  const auto copy = [&octets](const auto& bytes) {
    std::memcpy(octets.data(), bytes.data(), bytes.size());
  };
  if (!as_v6) {
    copy(address.to_v4().to_bytes());
  } else if (address.is_v6()) {
    copy(address.to_v6().to_bytes());
  } else {
    copy(ip::make_address_v6(ip::v4_mapped, address.to_v4()).to_bytes());
  }
  return octets;
}

// Reads a gather list from front to back.
class Reader {
 public:
  explicit Reader(std::span<const iovec> pieces) : pieces_(pieces) {}

  void read(MutableBytes into) {
    while (!into.empty()) {
      const iovec& piece = pieces_.front();
      const std::size_t n = std::min(piece.iov_len - used_, into.size());
      copy(into.data(), {static_cast<const std::byte*>(piece.iov_base) + used_, n});
      into = into.subspan(n);
      used_ += n;
      if (used_ < piece.iov_len) continue;
      pieces_ = pieces_.subspan(1);
      used_ = 0;
    }
  }

 private:
  // The system has read it already. If it has gone since, a capture shows zeros in its place.
  static void copy(std::byte* to, ConstBytes from) {
    if (guarded_copy(to, from)) std::fill_n(to, from.size(), std::byte{0});
  }

  std::span<const iovec> pieces_;
  std::size_t used_ = 0;
};

}  // namespace

Transcript::Transcript(const Endpoint& local, const Endpoint& remote)
    : is_v6_(needs_v6(local, remote)),
      sides_{Side{octets_of(local.address(), is_v6_), local.port()},
             Side{octets_of(remote.address(), is_v6_), remote.port()}} {}

void Transcript::open(End opener, WallTime now, std::vector<std::byte>& file) {
  opened_ = true;
  append_section_header(file);
  append_interface(file);
  bare(opener, kSyn, now, file);
  bare(other(opener), kSyn | kAck, now, file);
  bare(opener, kAck, now, file);
}

// Whether `from` may still say something; opens the connection first.
bool Transcript::says(End from, WallTime now, std::vector<std::byte>& file) {
  if (over_ || side(from).finished) return false;
  if (!opened_) open(from, now, file);
  return true;
}

void Transcript::data(End from, std::span<const iovec> pieces, std::size_t size, WallTime now,
                      std::vector<std::byte>& file) {
  if (size == 0 || !says(from, now, file)) return;
  Reader reader(pieces);
  while (size != 0) {
    const std::size_t n = std::min(size, kMaxSegment);
    const MutableBytes payload = packet(from, kPsh | kAck, n, now, file);
    reader.read(payload);
    seal(from, payload);
    size -= n;
    if (side(from).unacknowledged > kAcknowledgeEvery) bare(other(from), kAck, now, file);
  }
}

void Transcript::finish(End from, WallTime now, std::vector<std::byte>& file) {
  if (!says(from, now, file)) return;
  bare(from, kFin | kAck, now, file);
  side(from).finished = true;
}

void Transcript::reset(End from, WallTime now, std::vector<std::byte>& file) {
  if (over_) return;
  if (!opened_) open(from, now, file);
  bare(from, kRst | kAck, now, file);
  over_ = true;
}

void Transcript::bare(End from, unsigned flags, WallTime now, std::vector<std::byte>& file) {
  seal(from, packet(from, flags, 0, now, file));
}

MutableBytes Transcript::packet(End from, unsigned flags, std::size_t payload, WallTime now,
                                std::vector<std::byte>& file) {
  const bool syn = (flags & kSyn) != 0;
  const std::size_t tcp_size = kTcpSize + (syn ? kSynOptionsSize : 0);
  const auto direction = from == End::kLocal ? Direction::kOutbound : Direction::kInbound;
  const MutableBytes whole = append_packet(file, direction, now, ip_size() + tcp_size + payload);
  put_ip(from, whole.data(), whole.size());
  std::byte* tcp = whole.data() + ip_size();
  Side& mine = side(from);
  Side& theirs = side(other(from));
  store_be(tcp, mine.port);
  store_be(tcp + 2, theirs.port);
  store_be(tcp + 4, mine.next);
  store_be(tcp + 8, (flags & kAck) != 0 ? theirs.next : 0U);
  store_be(tcp + 12, static_cast<std::uint16_t>(tcp_size / 4 << 12U | flags));
  store_be(tcp + 14, std::uint16_t{0xFFFF});  // the window
  if (syn) {
    store_be(tcp + kTcpSize, kMssOption);
    store_be(tcp + kTcpSize + 4, kWindowScaleOption);
  }
  const bool counts = (flags & (kSyn | kFin)) != 0;
  mine.next += static_cast<std::uint32_t>(payload) + (counts ? 1U : 0U);
  mine.unacknowledged += payload;
  theirs.unacknowledged = 0;
  header_size_ = ip_size() + tcp_size;
  return whole.subspan(header_size_);
}

// TCP's checksum covers the payload and a pseudo header (RFC 9293 §3.1, RFC 8200 §8.1).
void Transcript::seal(End from, MutableBytes payload) {
  const std::size_t tcp_size = header_size_ - ip_size() + payload.size();
  std::byte* tcp = payload.data() + payload.size() - tcp_size;
  const std::size_t address = is_v6_ ? 16 : 4;
  const std::uint64_t pseudo = sum_of(ConstBytes(side(from).address).first(address)) +
                               sum_of(ConstBytes(side(other(from)).address).first(address)) +
                               kTcpProtocol + tcp_size;
  store_be(tcp + kTcpChecksumAt, checksum_of(pseudo + sum_of({tcp, tcp_size})));
}

void Transcript::put_ip(End from, std::byte* at, std::size_t size) {
  const auto& source = side(from).address;
  const auto& target = side(other(from)).address;
  if (is_v6_) {
    store_be(at, std::uint32_t{6} << 28U);
    store_be(at + 4, static_cast<std::uint16_t>(size - ip_size()));
    store_be(at + 6, static_cast<std::uint16_t>(kTcpProtocol << 8U | kHops));
    std::copy_n(source.begin(), 16, at + 8);
    std::copy_n(target.begin(), 16, at + 24);
    return;
  }
  store_be(at, std::uint16_t{0x4500});
  store_be(at + 2, static_cast<std::uint16_t>(size));
  store_be(at + 4, identification_++);
  store_be(at + 6, std::uint16_t{0x4000});  // not to be fragmented
  store_be(at + 8, static_cast<std::uint16_t>(kHops << 8U | kTcpProtocol));
  std::copy_n(source.begin(), 4, at + 12);
  std::copy_n(target.begin(), 4, at + 16);
  store_be(at + kIpChecksumAt, checksum_of(sum_of({at, ip_size()})));
}

}  // namespace iwarp::tcp_offload::capture
