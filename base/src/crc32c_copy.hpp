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

/// In one pass, by the kernel of crc32c_kernels that has this name; null where the processor
/// cannot.
Kernel in_512_bits();
Kernel in_256_bits();  ///< See in_512_bits().

/// The fastest of them on this processor.
Kernel best();

}  // namespace iwarp::crc32c_copy
