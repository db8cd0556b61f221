#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "file_service/wire/link.hpp"
#include "file_service/wire/protocol.hpp"

/// The numbers of the file service.
namespace iwarp::cli::file_service {

/// Requests that a client may have under way.
inline constexpr std::uint16_t kCredits = 16;
/// Chunks that a transfer has under way at each end.
inline constexpr std::size_t kWindow = 8;
/// Clients of a server at once. One that asks nothing costs it some 100 KB and a thread.
inline constexpr std::size_t kMaxClients = 1024;
/// Chunk buffers of all connections of a server together: 128 MiB. Beyond them strangers wait, and
/// transfers that move nothing make room.
inline constexpr std::size_t kTotalBuffers = 128;
/// A stranger that has waited for so long gets a buffer all the same, one of them so often.
inline constexpr std::chrono::seconds kLongInLine{3};
inline constexpr std::chrono::milliseconds kLendsBeyond{100};
/// Octets of a listing that go in one request.
inline constexpr std::uint32_t kListingPage = 64U << 10;

/// A client hears so often from a server that puts its file on the disk.
inline constexpr std::chrono::milliseconds kSyncSignInterval{500};
/// How long either end waits while something is under way and no octet moves.
inline constexpr std::chrono::seconds kStallTimeout{30};
/// After so long without an octet a transfer has to make room if a server has no slot left, or too
/// few buffers.
inline constexpr std::chrono::seconds kStallWhileFull{3};
/// A client that has just come has so long to ask for something: before that it makes room only if
/// nothing else does.
inline constexpr std::chrono::seconds kTimeToAsk{1};
/// Clients that go without having got anything are an attack if this many go at once, or more than
/// so many a second for long. Then their networks wait for so long, and up to that long if they do
/// it again and again, unless a client of theirs was served lately. Of so many networks at most
/// that is known.
inline constexpr double kBadEndsOfAnAttack = 100;
inline constexpr double kBadEndsASecond = 10;
inline constexpr std::chrono::seconds kHeldBack{30};
inline constexpr std::chrono::minutes kLongestHeldBack{4};
inline constexpr std::chrono::minutes kTrusted{10};
inline constexpr std::size_t kMostHeldBack = 16384;
/// Threads of clients that have made room, and do not end yet.
inline constexpr std::size_t kMostLeaving = 64;
/// How often, at least, the thread of a client looks around for which nothing moves: there may be a
/// thousand of them.
inline constexpr std::chrono::milliseconds kIdleSlice{1000};
/// How long a server keeps a client that asks nothing.
inline constexpr std::chrono::seconds kFirstRequestTimeout{30};
inline constexpr std::chrono::seconds kIdleTimeout{60};

/// Chunk buffers that a transfer of `size` octets can use.
constexpr std::size_t buffers_for(std::uint64_t size) {
  const std::uint64_t chunks = size / kMaxChunk + (size % kMaxChunk != 0 ? 1 : 0);
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(chunks, 1, kWindow));
}

/// The server always has buffers left to answer the chunks that it is reading.
inline constexpr LinkSizes kServerLink{.receives = kCredits,
                                       .sends = kCredits + kWindow + 2,
                                       .receive_size = kMaxRequest,
                                       .send_size = kMaxReply,
                                       .data_requests = 2 * kCredits};
/// The client takes a few notes besides its answers (Status::kWorking).
inline constexpr LinkSizes kClientLink{.receives = kCredits + 4,
                                       .sends = kCredits,
                                       .receive_size = kMaxReply,
                                       .send_size = kMaxRequest,
                                       .data_requests = 0};

}  // namespace iwarp::cli::file_service
