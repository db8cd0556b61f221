#include "iwarp/ddp/memory.hpp"

#include <algorithm>

namespace iwarp::ddp {
namespace {

constexpr std::size_t kWord = 8;

// The octets of the last aligned word of a placement that ends at `end`.
std::size_t tail_size(const std::byte* end, std::size_t size) {
  const std::size_t past_boundary = (reinterpret_cast<std::uintptr_t>(end) - 1U) % kWord + 1U;
  return std::min(past_boundary, size);
}

// Compilers may not move the plain stores above this one, and processors keep the order.
void store_last(std::byte* at, ConstBytes tail) {
  if (tail.size() == kWord) {
    std::uint64_t word;
    std::memcpy(&word, tail.data(), kWord);
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).store(word, std::memory_order_release);
    return;
  }
  for (std::size_t i = 0; i < tail.size(); ++i) {
    std::atomic_ref(at[i]).store(tail[i], std::memory_order_release);
  }
}

void* copy_last_word_last(void* to, const void* from, std::size_t size) {
  auto* const target = static_cast<std::byte*>(to);
  const std::size_t tail = tail_size(target + size, size);
  const std::size_t body = size - tail;
  std::memcpy(to, from, body);
  store_last(target + body, {static_cast<const std::byte*>(from) + body, tail});
  return to;
}

}  // namespace

std::uint64_t total_length(std::span<const Sge> list) {
  std::uint64_t sum = 0;
  for (const Sge& sge : list) sum += sge.length;
  return sum;
}

MemoryFault place(std::byte* to, ConstBytes data) {
  if (data.empty()) return {};
  return guarded_call({to, data.size()}, copy_last_word_last, to, data.data());
}

Result<void, PlacementError> scatter(Hold& buffers, std::span<const Sge> list, std::uint64_t offset,
                                     ConstBytes data) {
  for (const Sge& sge : list) {
    if (data.empty()) break;
    if (offset >= sge.length) {
      offset -= sge.length;
      continue;
    }
    const std::size_t size = std::min<std::size_t>(sge.length - offset, data.size());
    const auto memory =
        buffers.reach(sge.lkey, Rights::kLocalWrite, TaggedOffset{sge.address + offset}, size);
    if (!memory) return failure(PlacementError{memory.error(), {}});
    if (const auto fault = place(*memory, data.first(size))) {
      return failure(PlacementError{Error::kMemoryFault, fault});
    }
    data = data.subspan(size);
    offset = 0;
  }
  if (!data.empty()) return failure(PlacementError{Error::kMessageTooLong, {}});
  return {};
}

}  // namespace iwarp::ddp
