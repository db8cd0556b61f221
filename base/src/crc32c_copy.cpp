#include "crc32c_copy.hpp"

#include <algorithm>
#include <cstring>

#include "crc32c_kernels.hpp"
#include "iwarp/base/crc32c.hpp"

// Measured with octets that come from the last-level cache or from memory, go into 256 KiB which
// stay in the second level, and are copied once more, as a socket does (AMD Zen 4, GB/s for the
// copy, the CRC and that second copy; blocks of 2 to 16 KiB are alike within the noise):
//
//   octets   memcpy alone   by_blocks   in_512_bits   the same with 128-bit registers
//    1,444             18          13            16                               10
//    8,944             19          13            18                               10
//   64,750             18          14            19                               10
//
// bench/micro/crc32c_bench.cpp measures them again.
namespace iwarp::crc32c_copy {

std::uint32_t by_blocks(std::uint32_t state, std::byte* to, const std::byte* from,
                        std::size_t size) {
  constexpr std::size_t kBlock = 4096;
  Crc32c crc = Crc32c::from_state(state);
  while (size > 0) {
    const std::size_t block = std::min(size, kBlock);
    std::memcpy(to, from, block);
    crc.update({to, block});
    to += block;
    from += block;
    size -= block;
  }
  return crc.state();
}

namespace {

using Way = const crc32c_kernels::Kernel* (*)();

template <Way kWay>
std::uint32_t one_pass(std::uint32_t state, std::byte* to, const std::byte* from,
                       std::size_t size) {
  const crc32c_kernels::Kernel& kernel = *kWay();
  const std::size_t taken = kernel.copies.taken(size);
  if (taken == 0) return by_blocks(state, to, from, size);
  state = kernel.copy(state, to, from, taken);
  return by_blocks(state, to + taken, from + taken, size - taken);
}

template <Way kWay>
Kernel if_usable() {
  return kWay() != nullptr ? &one_pass<kWay> : nullptr;
}

}  // namespace

Kernel in_512_bits() { return if_usable<&crc32c_kernels::in_512_bits>(); }
Kernel in_256_bits() { return if_usable<&crc32c_kernels::in_256_bits>(); }

Kernel best() {
  static const Kernel kernel = in_512_bits() != nullptr   ? in_512_bits()
                               : in_256_bits() != nullptr ? in_256_bits()
                                                          : &by_blocks;
  return kernel;
}

}  // namespace iwarp::crc32c_copy
