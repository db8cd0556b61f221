#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace iwarp::crc32c_copy {

/// Copies `size` octets from `from` to `to`, which do not overlap, and brings the state of a CRC32c
/// (not complemented) to behind them. Reads each octet of `from` once, so that the CRC is that of
/// the copy whatever another thread writes to `from` meanwhile.
using Kernel = std::uint32_t (*)(std::uint32_t state, std::byte* to, const std::byte* from,
                                 std::size_t size);

/// Block by block: memcpy, then the CRC of the copy while it is in the first-level cache. Runs on
/// every processor, with the fastest code for it that C library and ISA-L have.
std::uint32_t by_blocks(std::uint32_t state, std::byte* to, const std::byte* from,
                        std::size_t size);

/// In one pass through 512-bit registers; null where the processor has no AVX-512 or no VPCLMULQDQ.
Kernel in_one_pass();

/// The fastest of them on this processor.
inline Kernel best() {
  static const Kernel kernel = in_one_pass() != nullptr ? in_one_pass() : &by_blocks;
  return kernel;
}

}  // namespace iwarp::crc32c_copy
