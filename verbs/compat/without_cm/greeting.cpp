#include "without_cm/greeting.hpp"

#include <algorithm>
#include <array>

namespace iwarp::compat {
namespace {

// "IWQP", and the version.
constexpr std::uint32_t kMagic = 0x49575150;
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kEndSize = 20;
constexpr std::size_t kSize = 8 + 2 * kEndSize;

void put_end(std::byte* at, const QpIdentity& end) {
  std::memcpy(at, end.gid.raw, sizeof end.gid.raw);
  store_be(at + sizeof end.gid.raw, end.qp_number);
}

QpIdentity end_at(const std::byte* at) {
  QpIdentity end;
  std::memcpy(end.gid.raw, at, sizeof end.gid.raw);
  end.qp_number = load_be<std::uint32_t>(at + sizeof end.gid.raw);
  return end;
}

}  // namespace

std::vector<std::byte> encode(const Greeting& greeting) {
  std::vector<std::byte> octets(kSize);
  store_be(octets.data(), kMagic);
  store_be(octets.data() + 4, kVersion);
  put_end(octets.data() + 8, greeting.from);
  put_end(octets.data() + 8 + kEndSize, greeting.to);
  return octets;
}

std::optional<Greeting> decode_greeting(ConstBytes octets) {
  if (octets.size() != kSize || load_be<std::uint32_t>(octets.data()) != kMagic ||
      load_be<std::uint32_t>(octets.data() + 4) != kVersion) {
    return std::nullopt;
  }
  return Greeting{end_at(octets.data() + 8), end_at(octets.data() + 8 + kEndSize)};
}

}  // namespace iwarp::compat
