#pragma once

#include <cstddef>
#include <cstdint>

/// The CRC32c by instructions that not every processor has.
namespace iwarp::crc32c_kernels {

/// Of how many octets a function is called.
struct Sizes {
  std::size_t least;    ///< For fewer octets other ways are as fast.
  std::size_t granule;  ///< It takes so many octets at a time.

  /// How many of `size` octets it takes: 0, or all but fewer than a granule.
  [[nodiscard]] std::size_t taken(std::size_t size) const {
    return size < least ? 0 : size - size % granule;
  }
};

/// One way to take it. States are not complemented.
struct Kernel {
  /// Brings `state` to behind `size` octets. Precondition: as `reads` says, and not 0.
  std::uint32_t (*read)(std::uint32_t state, const std::byte* from, std::size_t size);
  Sizes reads;
  /// The same, and copies them to `to`, which does not overlap; each octet of `from` is read once.
  std::uint32_t (*copy)(std::uint32_t state, std::byte* to, const std::byte* from,
                        std::size_t size);
  Sizes copies;
};

/// By products without carry in registers of 512 bits; null where the processor lacks AVX-512F or
/// VPCLMULQDQ.
const Kernel* in_512_bits();
/// By such products in registers of 256 bits, and what is only read by the crc32 instruction at the
/// same time; null where the processor lacks AVX2, VPCLMULQDQ or SSE 4.2.
const Kernel* in_256_bits();
/// The faster of them on this processor, if any.
inline const Kernel* best() {
  static const Kernel* const kernel = in_512_bits() != nullptr ? in_512_bits() : in_256_bits();
  return kernel;
}

/// A polynomial times x to the power of n, modulo that of CRC32c, the bits in the order in which
/// the CRC has them: that of x^0 is the highest.
constexpr std::uint32_t times_x(std::uint32_t value, std::size_t n) {
  for (; n > 0; --n) value = (value >> 1U) ^ ((value & 1U) != 0 ? 0x82F63B78U : 0U);
  return value;
}
constexpr std::uint32_t power_of_x(std::size_t n) { return times_x(0x80000000U, n); }

/// Carrying 128 bits over further ones takes two products without carry: of the half that comes
/// first, whose powers of x are higher by 64, and of the other. In this order of bits a product
/// comes out one place too low, hence the shift.
struct Fold {
  std::uint64_t first, second;
};
constexpr Fold fold_over(std::size_t bits) {
  return {std::uint64_t{power_of_x(bits + 32)} << 1U, std::uint64_t{power_of_x(bits - 32)} << 1U};
}

}  // namespace iwarp::crc32c_kernels
