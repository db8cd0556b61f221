#include "wire/rdmap.hpp"

namespace iwarp::conform {
namespace {

struct NamedCause {
  Cause cause;
  std::string_view type, code;
};

constexpr NamedCause kCauses[] = {
    {{0, 0, 0x00}, "Local Catastrophic Error", "no code"},
    {{0, 1, 0x00}, "Remote Protection Error", "Invalid STag"},
    {{0, 1, 0x01}, "Remote Protection Error", "Base or bounds violation"},
    {{0, 1, 0x02}, "Remote Protection Error", "Access rights violation"},
    {{0, 1, 0x03}, "Remote Protection Error", "STag not associated with RDMAP Stream"},
    {{0, 1, 0x04}, "Remote Protection Error", "TO wrap"},
    {{0, 1, 0x09}, "Remote Protection Error", "STag cannot be Invalidated"},
    {{0, 1, 0xFF}, "Remote Protection Error", "Unspecified Error"},
    {{0, 2, 0x05}, "Remote Operation Error", "Invalid RDMAP version"},
    {{0, 2, 0x06}, "Remote Operation Error", "Unexpected OpCode"},
    {{0, 2, 0x07}, "Remote Operation Error", "Catastrophic error, localized to RDMAP Stream"},
    {{0, 2, 0x08}, "Remote Operation Error", "Catastrophic error, global"},
    {{0, 2, 0x09}, "Remote Operation Error", "STag cannot be Invalidated"},
    {{0, 2, 0xFF}, "Remote Operation Error", "Unspecified Error"},
    {{1, 0, 0x00}, "Local Catastrophic Error", "no code"},
    {{1, 1, 0x00}, "Tagged Buffer Error", "Invalid STag"},
    {{1, 1, 0x01}, "Tagged Buffer Error", "Base or bounds violation"},
    {{1, 1, 0x02}, "Tagged Buffer Error", "STag not associated with DDP Stream"},
    {{1, 1, 0x03}, "Tagged Buffer Error", "TO wrap"},
    {{1, 1, 0x04}, "Tagged Buffer Error", "Invalid DDP version"},
    {{1, 2, 0x01}, "Untagged Buffer Error", "Invalid QN"},
    {{1, 2, 0x02}, "Untagged Buffer Error", "Invalid MSN - no buffer available"},
    {{1, 2, 0x03}, "Untagged Buffer Error", "Invalid MSN - MSN range is not valid"},
    {{1, 2, 0x04}, "Untagged Buffer Error", "Invalid MO"},
    {{1, 2, 0x05}, "Untagged Buffer Error", "DDP Message too long for available buffer"},
    {{1, 2, 0x06}, "Untagged Buffer Error", "Invalid DDP version"},
    {{2, 0, 0x01}, "MPA Error", "TCP connection closed, terminated or lost"},
    {{2, 0, 0x02}, "MPA Error", "MPA CRC Error"},
    {{2, 0, 0x03}, "MPA Error", "Marker and ULPDU Length mismatch"},
    {{2, 0, 0x04}, "MPA Error", "Invalid MPA Request or Reply Frame"},
    {{2, 0, 0x05}, "MPA Error", "Local catastrophic error"},
    {{2, 0, 0x06}, "MPA Error", "Insufficient IRD resources"},
    {{2, 0, 0x07}, "MPA Error", "No matching RTR option"},
};

constexpr std::string_view layer_name(std::uint8_t layer) {
  switch (layer) {
    case kLayerRdmap: return "RDMAP";
    case kLayerDdp: return "DDP";
    case kLayerMpa: return "MPA";
    default: return "unknown layer";
  }
}

}  // namespace

Octets encode(const ReadRequest& request) {
  Octets out;
  put32(out, request.sink_stag);
  put64(out, request.sink_to);
  put32(out, request.size);
  put32(out, request.source_stag);
  put64(out, request.source_to);
  return out;
}

std::optional<ReadRequest> parse_read_request(OctetView octets) {
  if (octets.size() < ReadRequest::kSize) return std::nullopt;
  return ReadRequest{.sink_stag = get32(octets, 0),
                     .sink_to = get64(octets, 4),
                     .size = get32(octets, 12),
                     .source_stag = get32(octets, 16),
                     .source_to = get64(octets, 20)};
}

Octets encode(const AtomicRequest& request) {
  Octets out;
  put32(out, request.operation);
  put32(out, request.id);
  put32(out, request.stag);
  put64(out, request.to);
  put64(out, request.data);
  put64(out, request.mask);
  put64(out, request.compare);
  put64(out, request.compare_mask);
  return out;
}

std::optional<AtomicRequest> parse_atomic_request(OctetView octets) {
  if (octets.size() < AtomicRequest::kSize) return std::nullopt;
  return AtomicRequest{.operation = get32(octets, 0),
                       .id = get32(octets, 4),
                       .stag = get32(octets, 8),
                       .to = get64(octets, 12),
                       .data = get64(octets, 20),
                       .mask = get64(octets, 28),
                       .compare = get64(octets, 36),
                       .compare_mask = get64(octets, 44)};
}

Octets encode(const AtomicResponse& response) {
  Octets out;
  put32(out, response.id);
  put64(out, response.original);
  return out;
}

std::optional<AtomicResponse> parse_atomic_response(OctetView octets) {
  if (octets.size() < AtomicResponse::kSize) return std::nullopt;
  return AtomicResponse{.id = get32(octets, 0), .original = get64(octets, 4)};
}

std::string describe(const Cause& cause) {
  std::string_view type = "unknown error type", code = "unknown error code";
  for (const NamedCause& named : kCauses) {
    if (named.cause.layer != cause.layer || named.cause.type != cause.type) continue;
    type = named.type;
    if (named.cause.code == cause.code) code = named.code;
  }
  return std::string(layer_name(cause.layer)) + " / " + std::string(type) + " / " +
         std::string(code) + " (" + std::to_string(cause.layer) + "/" + std::to_string(cause.type) +
         "/" + hex_number(cause.code, 2) + ")";
}

Octets encode(const Terminate& terminate) {
  Octets out{static_cast<std::uint8_t>(terminate.cause.layer << 4 | terminate.cause.type),
             terminate.cause.code};
  put16(out, static_cast<std::uint16_t>(
                 (terminate.has_length ? 0x8000 : 0) | (terminate.has_ddp_header ? 0x4000 : 0) |
                 (terminate.has_rdma_header ? 0x2000 : 0) | (terminate.reserved & 0x1FFF)));
  if (terminate.segment_length) put16(out, *terminate.segment_length);
  put(out, terminate.ddp_header);
  if (terminate.read_request) put(out, encode(*terminate.read_request));
  return out;
}

std::optional<Terminate> parse_terminate(OctetView octets) {
  if (octets.size() < 4) return std::nullopt;
  Terminate terminate;
  terminate.cause = {static_cast<std::uint8_t>(octets[0] >> 4),
                     static_cast<std::uint8_t>(octets[0] & 0x0F), octets[1]};
  const std::uint16_t control = get16(octets, 2);
  terminate.has_length = (control & 0x8000) != 0;
  terminate.has_ddp_header = (control & 0x4000) != 0;
  terminate.has_rdma_header = (control & 0x2000) != 0;
  terminate.reserved = control & 0x1FFF;
  OctetView rest = octets.subspan(4);
  if (terminate.has_length) {
    if (rest.size() < 2) return std::nullopt;
    terminate.segment_length = get16(rest, 0);
    rest = rest.subspan(2);
  }
  if (terminate.has_ddp_header) {
    if (rest.empty()) return std::nullopt;
    const std::size_t size = (rest[0] & kTagged) != 0 ? kTaggedHeaderSize : kUntaggedHeaderSize;
    if (rest.size() < size) return std::nullopt;
    terminate.ddp_header.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size));
    rest = rest.subspan(size);
  }
  if (terminate.has_rdma_header) {
    terminate.read_request = parse_read_request(rest);
    if (!terminate.read_request) return std::nullopt;
  }
  return terminate;
}

}  // namespace iwarp::conform
