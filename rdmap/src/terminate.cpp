#include "iwarp/rdmap/terminate.hpp"

#include <algorithm>

#include "iwarp/rdmap/control.hpp"

namespace iwarp::rdmap {
namespace {

// Terminate Control (RFC 5040 Figure 8): Layer, EType, Error Code, then the bits M, D and R.
constexpr std::size_t kLayerAndTypeAt = 0;
constexpr std::size_t kCodeAt = 1;
constexpr std::size_t kHeaderControlAt = 2;
constexpr unsigned kLengthValid = 0x80;      // M
constexpr unsigned kDdpHeaderThere = 0x40;   // D
constexpr unsigned kRdmaHeaderThere = 0x20;  // R
constexpr std::size_t kLengthSize = 2;

unsigned octet(ConstBytes bytes, std::size_t at) { return std::to_integer<unsigned>(bytes[at]); }

// The headers follow each other without gaps; this walks over them.
class Walker {
 public:
  explicit Walker(ConstBytes rest) : rest_(rest) {}
  std::optional<ConstBytes> take(std::size_t size) {
    if (rest_.size() < size) return std::nullopt;
    const ConstBytes taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  [[nodiscard]] ConstBytes rest() const { return rest_; }

 private:
  ConstBytes rest_;
};

bool parse_ddp_header(Walker& walker, Terminate& message) {
  const std::size_t size = ddp::claimed_header_size(walker.rest());
  const auto header = size == 0 ? std::nullopt : walker.take(size);
  if (!header) return false;
  std::copy(header->begin(), header->end(), message.ddp_header.begin());
  message.ddp_header_size = size;
  return true;
}

bool parse_headers(unsigned bits, Walker walker, Terminate& message) {
  // A Terminate with the DDP header has its length in front, valid or not.
  if ((bits & (kLengthValid | kDdpHeaderThere)) != 0) {
    const auto length = walker.take(kLengthSize);
    if (!length) return false;
    if ((bits & kLengthValid) != 0) message.segment_length = load_be<std::uint16_t>(length->data());
  }
  if ((bits & kDdpHeaderThere) != 0 && !parse_ddp_header(walker, message)) return false;
  if ((bits & kRdmaHeaderThere) != 0) {
    const auto header = walker.take(ReadRequest::kSize);
    if (!header) return false;
    message.read_request = ReadRequest::parse(*header);
  }
  return true;
}

// Which headers RFC 5040 Figure 10 asks for; a local catastrophic error has none (§4.8).
bool wants_ddp_header(const Cause& cause) {
  return cause.layer != Layer::kLlp && cause.type != kTypeLocalCatastrophic;
}

bool wants_rdma_header(const Cause& cause) {
  return cause.layer == Layer::kRdmap && cause.type == kTypeRemoteProtection;
}

bool is_read_request(ConstBytes ulpdu) {
  if (ddp::claimed_header_size(ulpdu) != ddp::kUntaggedHeaderSize) return false;
  if (ulpdu.size() != ddp::kUntaggedHeaderSize + ReadRequest::kSize) return false;
  const Control control = decode_control(std::to_integer<std::uint8_t>(ulpdu[1]));
  return control.opcode == static_cast<std::uint8_t>(Opcode::kReadRequest);
}

}  // namespace

std::size_t Terminate::encode(std::byte* at) const {
  const bool with_length = segment_length.has_value() || ddp_header_size != 0;
  const unsigned bits = (segment_length ? kLengthValid : 0U) |
                        (ddp_header_size != 0 ? kDdpHeaderThere : 0U) |
                        (read_request ? kRdmaHeaderThere : 0U);
  at[kLayerAndTypeAt] = std::byte(static_cast<unsigned>(cause.layer) << 4U | (cause.type & 0x0FU));
  at[kCodeAt] = std::byte{cause.code};
  at[kHeaderControlAt] = std::byte(bits);
  at[kHeaderControlAt + 1] = std::byte{0};
  std::byte* end = at + kControlSize;
  if (with_length) {
    store_be(end, segment_length.value_or(std::uint16_t{0}));
    end += kLengthSize;
  }
  end = std::copy_n(ddp_header.begin(), ddp_header_size, end);
  if (read_request) {
    read_request->encode(end);
    end += ReadRequest::kSize;
  }
  return static_cast<std::size_t>(end - at);
}

std::optional<Cause> Terminate::parse_cause(ConstBytes bytes) {
  if (bytes.size() < kControlSize) return std::nullopt;
  const unsigned layer_and_type = octet(bytes, kLayerAndTypeAt);
  return Cause{static_cast<Layer>(layer_and_type >> 4U),
               static_cast<std::uint8_t>(layer_and_type & 0x0FU),
               std::to_integer<std::uint8_t>(bytes[kCodeAt])};
}

std::optional<Terminate> Terminate::parse(ConstBytes bytes) {
  const auto cause = parse_cause(bytes);
  if (!cause) return std::nullopt;
  Terminate message;
  message.cause = *cause;
  if (!parse_headers(octet(bytes, kHeaderControlAt), Walker(bytes.subspan(kControlSize)),
                     message)) {
    return std::nullopt;
  }
  return message;
}

Terminate terminate_for(const Cause& cause, ConstBytes ulpdu) {
  Terminate message;
  message.cause = cause;
  const std::size_t header_size = ddp::claimed_header_size(ulpdu);
  if (!wants_ddp_header(cause) || header_size == 0 || ulpdu.size() < header_size) return message;
  message.segment_length = static_cast<std::uint16_t>(ulpdu.size());
  std::copy_n(ulpdu.begin(), header_size, message.ddp_header.begin());
  message.ddp_header_size = header_size;
  if (wants_rdma_header(cause) && is_read_request(ulpdu)) {
    message.read_request = ReadRequest::parse(ulpdu.subspan(header_size));
  }
  return message;
}

}  // namespace iwarp::rdmap
