#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "iwarp/base/strong_id.hpp"

namespace iwarp::ddp {

/// What chooses the key of an STag, its low octet: the table that hands it out, or its owner, anew
/// each time that a buffer comes into force under it (windows of type 2, fast regions).
enum class KeyChoice : std::uint8_t { kTable, kOwner };

/// The values of STags, and an order to hand them out in that brings each back as late as 32 bits
/// allow (RFC 5042 §6.1.1). Immutable; any thread.
///
/// An STag is a 24-bit index and an 8-bit key. The index is a *place*, scrambled by a permutation
/// that `secret` keys, so that a peer cannot guess a neighbour's. Three quarters of the places are
/// for STags whose key the table chooses: the n-th one takes the next place, and when all have been
/// taken the same places come again under another key. The others are for owners, who have all keys
/// of their place.
class StagNames {
 public:
  static constexpr std::uint32_t kPlaces = 1U << 24U;                    ///< All indices.
  static constexpr std::uint32_t kOwnerPlaces = kPlaces / 4;             ///< Of KeyChoice::kOwner.
  static constexpr std::uint32_t kTablePlaces = kPlaces - kOwnerPlaces;  ///< Of kTable.
  static constexpr std::uint32_t kKeys = 256;                            ///< Keys of a place.
  /// After so many STags of KeyChoice::kTable the first comes again.
  static constexpr std::uint64_t kTableNames = std::uint64_t{kTablePlaces} * kKeys;

  /// `secret` keys the permutations: random in programs, fixed in tests.
  explicit StagNames(std::uint64_t secret);

  /// The n-th STag of its kind, of any n. Of KeyChoice::kOwner the first key to use.
  [[nodiscard]] Stag name(KeyChoice choice, std::uint64_t n) const;
  /// The place of the n-th STag: consecutive but for the end of the range.
  [[nodiscard]] static constexpr std::uint32_t place(KeyChoice choice, std::uint64_t n) {
    return choice == KeyChoice::kTable
               ? static_cast<std::uint32_t>(n % kTablePlaces)
               : kTablePlaces + static_cast<std::uint32_t>(n % kOwnerPlaces);
  }
  /// The place of an STag, whatever its key; of any value.
  [[nodiscard]] std::uint32_t place_of(Stag stag) const;
  /// What chooses the keys of a place.
  [[nodiscard]] static constexpr KeyChoice choice_of(std::uint32_t place) {
    return place < kTablePlaces ? KeyChoice::kTable : KeyChoice::kOwner;
  }

 private:
  [[nodiscard]] std::uint32_t scramble(std::uint32_t place) const;
  [[nodiscard]] std::uint32_t key(std::uint32_t index, std::uint64_t round) const;

  std::array<std::uint32_t, 4> round_keys_{};
  std::uint64_t key_secret_ = 0;
};

/// The index of an STag, with a key of 0.
constexpr std::uint32_t index_of(Stag stag) { return stag.value() & ~(StagNames::kKeys - 1U); }

}  // namespace iwarp::ddp
