#pragma once

#include <cstddef>
#include <cstdint>

/// The CRC32c in 512-bit registers, by products without carry (AVX-512F and VPCLMULQDQ). States are
/// not complemented.
namespace iwarp::crc32c_fold {

/// Whether this processor has the instructions; nothing else may be called where it has not.
[[nodiscard]] bool usable();

/// How many of `size` octets the others can take: 0, or all but fewer than 64.
[[nodiscard]] std::size_t foldable(std::size_t size);

/// Brings `state` to behind `size` octets. Precondition: as foldable() says, and not 0.
[[nodiscard]] std::uint32_t read(std::uint32_t state, const std::byte* from, std::size_t size);

/// The same, and copies them to `to`, which does not overlap; each octet of `from` is read once.
[[nodiscard]] std::uint32_t copy(std::uint32_t state, std::byte* to, const std::byte* from,
                                 std::size_t size);

}  // namespace iwarp::crc32c_fold
