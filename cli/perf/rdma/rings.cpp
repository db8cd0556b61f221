#include "perf/rdma/rings.hpp"

#include <algorithm>

#include "context.hpp"

namespace iwarp::cli::perf {
namespace {

constexpr std::uint32_t kCacheFriendly = 64U << 10U;
// Receives up to this size do not share places: control messages are told from data by their
// octets, which must not have been overwritten when their completions are looked at.
constexpr std::uint32_t kDistinctSize = 64;

/// Posts `n` of a ring that is stored twice over and moves on.
template <typename Request, typename Post>
auto post_next(const std::vector<Request>& twice, std::uint32_t& next, std::uint32_t n, Post post) {
  auto outcome = post(std::span(twice).subspan(next, n));
  next = (next + n) % static_cast<std::uint32_t>(twice.size() / 2);
  return outcome;
}

}  // namespace

Places Places::for_messages(std::uint32_t messages, std::uint32_t size) {
  return {size, std::clamp(kCacheFriendly / size, 1U, std::max(messages, 1U))};
}

SendRing::SendRing(verbs::Opcode opcode, std::uint32_t length, Places places,
                   const verbs::MemoryRegion& local, const verbs::RemoteBuffer& remote,
                   SignalEvery signal)
    : length_(length), sges_(length), requests_(2 * std::size_t{length}) {
  for (std::uint32_t i = 0; i < 2 * length; ++i) {
    const std::uint32_t message = i % length;
    sges_[message] = local.sge(places.offset(message), places.size);
    verbs::SendWr& request = requests_[i];
    request.wr_id = kDataWork;
    request.opcode = opcode;
    request.flags =
        message % signal.n == signal.n - 1 ? verbs::SendFlags::kSignaled : verbs::SendFlags::kNone;
    request.sges = {&sges_[message], 1};
    request.remote_stag = remote.stag;
    request.remote_offset = remote.offset + places.offset(message);
  }
}

Result<void, verbs::PostError> SendRing::post(verbs::QueuePair& queue_pair, std::uint32_t n) {
  return post_next(requests_, next_, n, [&](auto list) { return queue_pair.post_send(list); });
}

ReceiveRing::ReceiveRing(verbs::ProtectionDomain& domain, std::uint32_t count, std::uint32_t size)
    : count_(count),
      places_(size <= kDistinctSize ? Places{size, count} : Places::for_messages(count, size)),
      memory_(places_.octets()),
      region_(require(domain.register_memory(memory_.bytes(), verbs::Access::kLocalWrite),
                      "cannot register the receive buffers")),
      sges_(count),
      requests_(2 * std::size_t{count}) {
  for (std::uint32_t i = 0; i < 2 * count; ++i) {
    const std::size_t offset = places_.offset(i % count);
    sges_[i % count] = region_.sge(offset, size);
    requests_[i].wr_id = offset;
    requests_[i].sges = {&sges_[i % count], 1};
  }
}

Result<void, verbs::PostError> ReceiveRing::post(verbs::QueuePair& queue_pair, std::uint32_t n) {
  return post_next(requests_, next_, n, [&](auto list) { return queue_pair.post_receive(list); });
}

}  // namespace iwarp::cli::perf
