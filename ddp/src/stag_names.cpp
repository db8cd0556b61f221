#include "iwarp/ddp/stag_names.hpp"

#include <utility>

namespace iwarp::ddp {
namespace {

constexpr std::uint32_t kKeyBits = 8;
constexpr std::uint32_t kHalfBits = 12;
constexpr std::uint32_t kHalfMask = (1U << kHalfBits) - 1U;

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

std::uint64_t next_secret(std::uint64_t& state) { return mixed(state += 0x9E3779B97F4A7C15ULL); }

// The round function of a Feistel network over two halves of twelve bits.
std::uint32_t round_of(std::uint32_t half, std::uint32_t key) {
  std::uint32_t x = (half ^ key) * 0x85EBCA6BU;
  x ^= x >> 15U;
  x *= 0xC2B2AE35U;
  return (x >> 13U) & kHalfMask;
}

}  // namespace

StagNames::StagNames(std::uint64_t secret) {
  for (std::uint32_t& key : round_keys_) key = static_cast<std::uint32_t>(next_secret(secret));
  key_secret_ = next_secret(secret);
}

std::uint32_t StagNames::scramble(std::uint32_t place) const {
  std::uint32_t left = place >> kHalfBits;
  std::uint32_t right = place & kHalfMask;
  for (const std::uint32_t key : round_keys_) {
    left = std::exchange(right, left ^ round_of(right, key));
  }
  return left << kHalfBits | right;
}

std::uint32_t StagNames::place_of(Stag stag) const {
  const std::uint32_t index = stag.value() >> kKeyBits;
  std::uint32_t left = index >> kHalfBits;
  std::uint32_t right = index & kHalfMask;
  for (std::size_t i = round_keys_.size(); i > 0; --i) {
    right = std::exchange(left, right ^ round_of(left, round_keys_[i - 1]));
  }
  return left << kHalfBits | right;
}

// Each index has an order of its own in which it takes its keys: 256 rounds take all of them, since
// the step is odd, and one key does not tell the next.
std::uint32_t StagNames::key(std::uint32_t index, std::uint64_t round) const {
  const auto own = static_cast<std::uint32_t>(mixed(key_secret_ ^ index));
  const std::uint32_t step = own >> kKeyBits | 1U;
  return (own + step * static_cast<std::uint32_t>(round)) % kKeys;
}

Stag StagNames::name(KeyChoice choice, std::uint64_t n) const {
  const std::uint32_t index = scramble(place(choice, n));
  const std::uint64_t round = n / (choice == KeyChoice::kTable ? kTablePlaces : kOwnerPlaces);
  return Stag{index << kKeyBits | key(index, round)};
}

}  // namespace iwarp::ddp
