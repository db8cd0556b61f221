#include "iwarp/mpa/framer.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "iwarp/base/crc32c.hpp"
#include "iwarp/base/result.hpp"

namespace iwarp::mpa {
namespace {

constexpr std::byte kZeros[4] = {};

// Up to here an FPDU is copied whole and its CRC taken afterwards, as that is one call; longer ones
// are copied and checked in one pass.
constexpr std::size_t kCheckedWhole = 512;

std::byte* put(std::byte* at, ConstBytes bytes) {
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return at + bytes.size();
}

// Writes what an FPDU begins with; returns where its payload follows. The first sixteen octets, all
// there are of a tagged segment, are put together in registers: the CRC is taken right afterwards
// in pieces of eight, and would wait for octets that were stored in others.
std::byte* put_front(std::byte* at, std::size_t ulpdu_length, ConstBytes header) {
  constexpr std::size_t kWords = 16 - kUlpduLengthSize;
  std::byte length[kUlpduLengthSize];
  store_be(length, static_cast<std::uint16_t>(ulpdu_length));
  if (header.size() < kWords) return put(put(at, length), header);
  const std::byte* const from = header.data();
  const auto word = [from](std::size_t offset) -> std::uint64_t {
    return load_le<std::uint32_t>(from + offset);
  };
  const auto first = load_le<std::uint16_t>(length) | std::uint32_t{load_le<std::uint16_t>(from)}
                                                          << 16U;
  store_le<std::uint64_t>(at, first | word(2) << 32U);
  store_le<std::uint64_t>(at + 8, word(6) | word(10) << 32U);
  return put(at + 16, header.subspan(kWords));
}

// The smallest page there is.
constexpr std::size_t kPage = 4096;

// Reads a little of each page: where there is no CRC to take, the system call would be the first to
// find that memory is missing, in the middle of an FPDU.
void touch(ConstBytes bytes) {
  const volatile std::byte* const octets = bytes.data();
  [[maybe_unused]] std::byte octet = octets[bytes.size() - 1];
  for (std::size_t at = 0; at < bytes.size(); at += kPage) octet = octets[at];
}

std::size_t total_size(std::span<const ConstBytes> pieces) {
  std::size_t total = 0;
  for (ConstBytes piece : pieces) total += piece.size();
  return total;
}

// RFC 5044 §4.4: the CRC goes out least significant octet first; §4.1: without CRC anything will
// do, here zero.
void store_crc(std::byte* at, std::uint32_t value, Crc crc) {
  store_le<std::uint32_t>(at, crc == Crc::kOn ? value : 0);
}

// Copies the payload to `at`, and returns the CRC of everything from `start` to `end`, which is
// there already in front of the payload and behind it.
Result<std::uint32_t, MemoryFault> copy_checked(const std::byte* start, std::byte* at,
                                                std::span<const ConstBytes> payload,
                                                const std::byte* end) {
  Crc32c crc;
  crc.update({start, at});
  for (ConstBytes piece : payload) {
    if (const auto fault = guarded(piece, [&] { crc.copy(at, piece); })) return failure(fault);
    at += piece.size();
  }
  crc.update({at, end});
  return crc.value();
}

// An FPDU that lies in one piece in the arena.
class ArenaSink {
 public:
  explicit ArenaSink(std::byte* at) : start_(at), at_(at) {}

  void copy(ConstBytes bytes) { at_ = put(at_, bytes); }
  void payload(ConstBytes bytes) {
    if (!fault_) fault_ = guarded_copy(at_, bytes);
    at_ += bytes.size();
  }
  void finish(Crc crc) {
    const auto size = static_cast<std::size_t>(at_ - start_);
    store_crc(at_, crc == Crc::kOn ? crc32c({start_, size}) : 0, crc);
  }
  MemoryFault fault() const { return fault_; }

 private:
  std::byte* start_;
  std::byte* at_;
  MemoryFault fault_;
};

// An FPDU whose payload stays where it is.
class GatherSink {
 public:
  GatherSink(GatherList& out, Crc crc) : out_(out), crc_(crc) {}

  void begin(std::size_t ulpdu_length, ConstBytes header) {
    const std::size_t size = kUlpduLengthSize + header.size();
    std::byte* const at = out_.append(size);
    store_be(at, static_cast<std::uint16_t>(ulpdu_length));
    put(at + kUlpduLengthSize, header);
    check({at, size});
  }
  void copy(ConstBytes bytes) {
    if (bytes.empty()) return;
    std::byte* const at = out_.append(bytes.size());
    std::memcpy(at, bytes.data(), bytes.size());
    check({at, bytes.size()});
  }
  void payload(ConstBytes bytes) {
    if (bytes.empty()) return;
    out_.reference(bytes);
    if (fault_) return;
    fault_ =
        guarded(bytes, [this, bytes] { crc_ == Crc::kOn ? value_.update(bytes) : touch(bytes); });
  }
  void finish(Crc) { store_crc(out_.append(kCrcSize), value_.value(), crc_); }
  MemoryFault fault() const { return fault_; }

 private:
  void check(ConstBytes bytes) {
    if (crc_ == Crc::kOn) value_.update(bytes);
  }

  GatherList& out_;
  Crc crc_;
  Crc32c value_;
  MemoryFault fault_;
};

// Feeds a sink with the octets of an FPDU and puts the Markers between them: in front of the octet
// that would otherwise stand at a multiple of 512. A Marker is thus never last in an FPDU, and one
// that falls between PAD and CRC comes before the CRC is taken (RFC 5044 §4.3, §4.4).
template <typename Sink>
class MarkedFpdu {
 public:
  MarkedFpdu(Sink& sink, std::size_t to_marker) : sink_(sink), to_marker_(to_marker) {}

  void header(std::size_t ulpdu_length, ConstBytes header) {
    // What precedes ULPDU_Length is not counted by FPDUPTR.
    place_marker_if_due();
    from_start_ = 0;
    std::byte length[kUlpduLengthSize];
    store_be(length, static_cast<std::uint16_t>(ulpdu_length));
    copy(length);
    copy(header);
  }

  void copy(ConstBytes bytes) {
    spread(bytes, [this](ConstBytes part) { sink_.copy(part); });
  }

  void payload(ConstBytes bytes) {
    spread(bytes, [this](ConstBytes part) { sink_.payload(part); });
  }

  void finish(std::size_t pad, Crc crc) {
    copy(ConstBytes(kZeros).first(pad));
    place_marker_if_due();
    sink_.finish(crc);
  }

 private:
  template <typename Put>
  void spread(ConstBytes bytes, Put put_part) {
    while (!bytes.empty()) {
      place_marker_if_due();
      const std::size_t size = std::min(bytes.size(), to_marker_);
      put_part(bytes.first(size));
      from_start_ += size;
      to_marker_ -= size;
      bytes = bytes.subspan(size);
    }
  }

  void place_marker_if_due() {
    if (to_marker_ > 0) return;
    std::byte marker[kMarkerSize] = {};
    store_be(marker + kFpduPtrOffset, static_cast<std::uint16_t>(from_start_));
    sink_.copy(marker);
    from_start_ += kMarkerSize;
    to_marker_ = kMarkerSpacing;
  }

  Sink& sink_;
  std::size_t to_marker_;       // octets of the FPDU up to the next Marker
  std::size_t from_start_ = 0;  // octets since ULPDU_Length, Markers included
};

template <typename Sink>
MemoryFault frame_marked(Sink& sink, std::size_t to_marker, ConstBytes header,
                         std::span<const ConstBytes> payload, std::size_t ulpdu_length, Crc crc) {
  MarkedFpdu<Sink> fpdu(sink, to_marker);
  fpdu.header(ulpdu_length, header);
  for (ConstBytes piece : payload) fpdu.payload(piece);
  fpdu.finish(pad_to_4(kUlpduLengthSize + ulpdu_length), crc);
  return sink.fault();
}

}  // namespace

MemoryFault Framer::frame(ConstBytes header, std::span<const ConstBytes> payload, PayloadUse use,
                          GatherList& out) {
  const std::size_t ulpdu_length = header.size() + total_size(payload);
  assert(ulpdu_length <= kMaxUlpduLength);
  const GatherList::Mark before = out.mark();
  const auto fault = use == PayloadUse::kCopy
                         ? frame_copied(header, payload, ulpdu_length, out)
                         : frame_referenced(header, payload, ulpdu_length, out);
  if (fault) {
    out.rewind(before);
    return fault;
  }
  pass(ulpdu_length);
  return {};
}

MemoryFault Framer::frame_copied(ConstBytes header, std::span<const ConstBytes> payload,
                                 std::size_t ulpdu_length, GatherList& out) const {
  const std::size_t size = wire_size(ulpdu_length);
  std::byte* const start = out.append(size);
  if (markers_ == Markers::kOn) {
    ArenaSink sink(start);
    return frame_marked(sink, octets_to_marker(phase_), header, payload, ulpdu_length, crc_);
  }
  const std::size_t checked = size - kCrcSize;
  // The last word in front of the CRC holds the PAD; the ULPDU overwrites the rest of it.
  store_be<std::uint32_t>(start + checked - 4, 0);
  std::byte* at = put_front(start, ulpdu_length, header);
  if (crc_ == Crc::kOn && size > kCheckedWhole) {
    const auto crc = copy_checked(start, at, payload, start + checked);
    if (!crc) return crc.error();
    store_crc(start + checked, *crc, crc_);
    return {};
  }
  for (ConstBytes piece : payload) {
    if (const auto fault = guarded_copy(at, piece)) return fault;
    at += piece.size();
  }
  store_crc(start + checked, crc_ == Crc::kOn ? crc32c({start, checked}) : 0, crc_);
  return {};
}

MemoryFault Framer::frame_referenced(ConstBytes header, std::span<const ConstBytes> payload,
                                     std::size_t ulpdu_length, GatherList& out) const {
  GatherSink sink(out, crc_);
  if (markers_ == Markers::kOn) {
    return frame_marked(sink, octets_to_marker(phase_), header, payload, ulpdu_length, crc_);
  }
  sink.begin(ulpdu_length, header);
  for (ConstBytes piece : payload) sink.payload(piece);
  sink.copy(ConstBytes(kZeros).first(pad_to_4(kUlpduLengthSize + ulpdu_length)));
  sink.finish(crc_);
  return sink.fault();
}

}  // namespace iwarp::mpa
