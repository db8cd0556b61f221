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

}  // namespace

std::uint64_t total_length(std::span<const Sge> list) {
  std::uint64_t sum = 0;
  for (const Sge& sge : list) sum += sge.length;
  return sum;
}

void place(std::byte* to, ConstBytes data) {
  if (data.empty()) return;
  const std::size_t tail = tail_size(to + data.size(), data.size());
  const std::size_t body = data.size() - tail;
  std::memcpy(to, data.data(), body);
  store_last(to + body, data.subspan(body));
}

Result<void, Error> scatter(const StagTable& table, const Accessor& by, std::span<const Sge> list,
                            std::uint64_t offset, ConstBytes data) {
  for (const Sge& sge : list) {
    if (data.empty()) break;
    if (offset >= sge.length) {
      offset -= sge.length;
      continue;
    }
    const std::size_t size = std::min<std::size_t>(sge.length - offset, data.size());
    const auto pin =
        table.pin(sge.lkey, by, Rights::kLocalWrite, TaggedOffset{sge.address + offset}, size);
    if (!pin) return failure(pin.error());
    place(pin->memory(), data.first(size));
    data = data.subspan(size);
    offset = 0;
  }
  if (!data.empty()) return failure(Error::kMessageTooLong);
  return {};
}

}  // namespace iwarp::ddp
