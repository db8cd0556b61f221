#include "rping_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace iwarp::interop {
namespace {

constexpr std::uint32_t kFirst = 'A';
constexpr std::uint32_t kLetters = 'z' - 'A' + 1;

}  // namespace

void encode_advertisement(const verbs::RemoteBuffer& buffer, std::byte* at) {
  store_be<std::uint64_t>(at, buffer.offset);
  store_be<std::uint32_t>(at + 8, buffer.stag.value());
  store_be<std::uint32_t>(at + 12, static_cast<std::uint32_t>(buffer.length));
}

verbs::RemoteBuffer parse_advertisement(const std::byte* at) {
  return {Stag{load_be<std::uint32_t>(at + 8)}, load_be<std::uint64_t>(at),
          load_be<std::uint32_t>(at + 12)};
}

void fill_ping(MutableBytes buffer, std::uint32_t ping) {
  const std::string head = "rdma-ping-" + std::to_string(ping) + ": ";
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    const std::size_t letter = i < head.size() ? static_cast<unsigned char>(head[i])
                                               : kFirst + (ping + (i - head.size())) % kLetters;
    buffer[i] = static_cast<std::byte>(letter);
  }
  buffer.back() = std::byte{0};
}

bool is_ping(ConstBytes buffer, std::uint32_t ping) {
  if (buffer.empty()) return false;
  std::vector<std::byte> expected(buffer.size());
  fill_ping(expected, ping);
  return std::ranges::equal(buffer, expected);
}

}  // namespace iwarp::interop
