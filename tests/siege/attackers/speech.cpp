#include "speech.hpp"

#include <algorithm>
#include <array>

#include "wire/fpdu.hpp"
#include "wire/rdmap.hpp"
#include "wire/segment.hpp"

namespace iwarp::siege {
namespace {

using conform::put16, conform::put32, conform::put64, conform::put;

constexpr std::uint16_t kDepth = 8;
constexpr std::uint32_t kStag = 0x01020304;      // of no buffer: what comes for it is not read
constexpr std::uint32_t kReadSize = 256U << 10;  // octets that one RDMA Read asks for
constexpr std::uint32_t kChunkSize = 1U << 20;   // what `iwarp serve` moves at once
constexpr int kChunks = 12;                      // its credits allow 16 requests
constexpr std::size_t kAdvertisement = 20;       // Tagged Offset, STag, length
constexpr std::uint16_t kLargestUlpdu = 0xFFF0;

Octets fpdu(const conform::Segment& segment) {
  return conform::FpduWriter().frame(conform::encode(segment));
}

// A request of the file service (cli/file_service/wire/protocol.hpp).
Octets file_request(std::uint8_t operation, std::uint32_t id, std::uint32_t length,
                    std::uint64_t position, std::string_view name) {
  Octets out = conform::octets("IWFS");
  put(out, std::array<std::uint8_t, 4>{1, operation, 0, 0});
  put32(out, id);
  put32(out, length == 0 ? 0 : kStag);
  put64(out, 0);
  put32(out, length);
  put16(out, static_cast<std::uint16_t>(name.size()));
  put16(out, 0);
  put64(out, position);
  put(out, conform::octets(name));
  return out;
}

}  // namespace

std::optional<Server> server_named(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNames{"serve", "asio", "rping", "verbs"};
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Server>(found - kNames.begin());
}

Octets mpa_request(Server server, Mode mode) {
  conform::StartupFrame frame;
  frame.revision = mode == Mode::kRevision1 ? 1 : 2;
  if (mode != Mode::kRevision1) {
    frame.flags |= conform::kFlagEnhanced;
    frame.enhanced = conform::EnhancedData{.peer_to_peer = true,
                                           .send_rtr = mode == Mode::kSendRtr,
                                           .ird = kDepth,
                                           .write_rtr = mode == Mode::kWriteRtr,
                                           .read_rtr = mode == Mode::kReadRtr,
                                           .ord = kDepth};
  }
  if (server == Server::kServe) {
    frame.private_data = conform::octets("IWFS");
    put(frame.private_data, std::array<std::uint8_t, 4>{1, 0, 0, 0});
  }
  return conform::encode(frame);
}

Octets Speech::ready() {
  switch (mode_) {
    case Mode::kRevision1: return {};
    case Mode::kSendRtr: return send({});
    case Mode::kWriteRtr: return fpdu(conform::tagged_segment(conform::kWrite, kStag, 0, {}));
    case Mode::kReadRtr: break;
  }
  const conform::ReadRequest nothing{.sink_stag = kStag, .source_stag = kStag};
  return fpdu(conform::untagged_segment(conform::kReadRequest, conform::kReadQueue, ++reads_, 0,
                                        conform::encode(nothing)));
}

Octets Speech::requests(const conform::StartupFrame& reply) {
  switch (server_) {
    case Server::kServe: return file_requests();
    case Server::kAsio: return reads(reply);
    case Server::kRping: {
      Octets advertisement;  // Of a buffer, which the server reads at once.
      put64(advertisement, 0x1000);
      put32(advertisement, kStag);
      put32(advertisement, 64);
      return send(std::move(advertisement));
    }
    case Server::kVerbs: break;
  }
  Octets all = send(Octets(64, 'x'));
  put(all, reads(reply));
  return all;
}

Octets Speech::file_requests() {
  constexpr std::uint8_t kOpenGet = 4, kGetChunk = 5;
  Octets all = send(file_request(kOpenGet, 1, 0, 0, "large"));
  for (std::uint32_t i = 0; i < kChunks; ++i) {
    const std::uint64_t position = std::uint64_t{i} * kChunkSize;
    put(all, send(file_request(kGetChunk, 2 + i, kChunkSize, position, "")));
  }
  return all;
}

Octets Speech::reads(const conform::StartupFrame& reply) {
  if (reply.private_data.size() < kAdvertisement) return {};
  // In revision 1 the peers do not tell each other how many Reads they take at once.
  const int count = reply.enhanced ? std::clamp<int>(reply.enhanced->ird, 1, kDepth) : 1;
  Octets all;
  for (int i = 0; i < count; ++i) put(all, read(reply.private_data));
  return all;
}

Octets Speech::half_fpdu() {
  Octets ulpdu = conform::encode(conform::untagged_segment(conform::kSend, conform::kSendQueue,
                                                           ++sends_, 0, Octets(kLargestUlpdu / 2)));
  Octets half;
  put16(half, kLargestUlpdu);
  put(half, ulpdu);
  return half;
}

Octets Speech::terminate() {
  const conform::Terminate message{.cause = conform::ddp_error::kNoBuffer};
  return fpdu(conform::untagged_segment(conform::kTerminate, conform::kTerminateQueue, 1, 0,
                                        conform::encode(message)));
}

Octets Speech::send(Octets payload) {
  return fpdu(conform::untagged_segment(conform::kSend, conform::kSendQueue, ++sends_, 0,
                                        std::move(payload)));
}

Octets Speech::read(OctetView advertised) {
  const auto length = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(conform::get64(advertised, 12), kReadSize));
  const conform::ReadRequest request{.sink_stag = kStag,
                                     .sink_to = 0,
                                     .size = length,
                                     .source_stag = conform::get32(advertised, 8),
                                     .source_to = conform::get64(advertised, 0)};
  return fpdu(conform::untagged_segment(conform::kReadRequest, conform::kReadQueue, ++reads_, 0,
                                        conform::encode(request)));
}

}  // namespace iwarp::siege
