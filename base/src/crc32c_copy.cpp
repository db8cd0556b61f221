#include "crc32c_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "iwarp/base/crc32c.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Measured with octets that come from the last-level cache or from memory, go into 256 KiB which
// stay in the second level, and are copied once more, as a socket does (AMD Zen 4, GB/s for the
// copy, the CRC and that second copy; blocks of 2 to 16 KiB are alike within the noise):
//
//   octets   memcpy alone   by_blocks   in_one_pass   the same with 128-bit registers
//    1,444             18          13            16                               10
//    8,944             19          13            18                               10
//   64,750             18          14            19                               10
//
// bench/crc32c_copy_bench.cpp measures them again.
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

#if defined(__x86_64__)
namespace {

// Below two of these steps by_blocks is as fast, as the registers have to be filled and joined.
constexpr std::size_t kStep = 256;

// x to the power of n, modulo the polynomial of CRC32c, the bits in the order in which the CRC has
// them: that of x^0 is the highest.
constexpr std::uint32_t power_of_x(unsigned n) {
  std::uint32_t value = 0x80000000U;
  for (; n > 0; --n) value = (value >> 1U) ^ ((value & 1U) != 0 ? 0x82F63B78U : 0U);
  return value;
}

// Carrying 128 bits over `bits` further ones takes two products without carry: of the half that
// comes first, whose powers of x are higher by 64, and of the other. In this order of bits a
// product comes out one place too low, hence the shift.
struct Fold {
  std::uint64_t first, second;
};
constexpr Fold fold_over(unsigned bits) {
  return {std::uint64_t{power_of_x(bits + 32)} << 1U, std::uint64_t{power_of_x(bits - 32)} << 1U};
}
constexpr Fold kOverStep = fold_over(8 * kStep);
constexpr Fold kOverRegister = fold_over(8 * 64);

#define IWARP_TARGET __attribute__((target("avx512f,vpclmulqdq,sse4.2")))

IWARP_TARGET __m512i constants(Fold fold) {
  return _mm512_set4_epi64(static_cast<long long>(fold.second), static_cast<long long>(fold.first),
                           static_cast<long long>(fold.second), static_cast<long long>(fold.first));
}

// The compiler may not read the source twice, instead of keeping what it has read.
IWARP_TARGET __m512i copied(std::byte* to, const std::byte* from) {
  __m512i octets = _mm512_loadu_si512(from);
  asm volatile("" : "+v"(octets));
  _mm512_storeu_si512(to, octets);
  return octets;
}

IWARP_TARGET __m512i folded(__m512i sum, __m512i over, __m512i next) {
  constexpr int kXorOfThree = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(sum, over, 0x00),
                                   _mm512_clmulepi64_epi128(sum, over, 0x11), next, kXorOfThree);
}

// The CRC of what a register stands for.
IWARP_TARGET std::uint32_t reduced(__m512i sum) {
  alignas(64) std::array<std::uint64_t, 8> words;
  _mm512_store_si512(words.data(), sum);
  std::uint64_t state = 0;
  for (const std::uint64_t word : words) state = _mm_crc32_u64(state, word);
  return static_cast<std::uint32_t>(state);
}

// Four registers hide the latency of the products. The state so far counts like 32 bits that are
// added to the first ones.
IWARP_TARGET std::uint32_t one_pass(std::uint32_t state, std::byte* to, const std::byte* from,
                                    std::size_t size) {
  if (size < 2 * kStep) return by_blocks(state, to, from, size);
  const __m512i over_step = constants(kOverStep);
  const __m512i over_register = constants(kOverRegister);
  __m512i a = copied(to, from);
  __m512i b = copied(to + 64, from + 64);
  __m512i c = copied(to + 128, from + 128);
  __m512i d = copied(to + 192, from + 192);
  a = _mm512_xor_si512(a, _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state))));
  const std::byte* const end = from + size;
  for (to += kStep, from += kStep; end - from >= std::ptrdiff_t{kStep};
       to += kStep, from += kStep) {
    a = folded(a, over_step, copied(to, from));
    b = folded(b, over_step, copied(to + 64, from + 64));
    c = folded(c, over_step, copied(to + 128, from + 128));
    d = folded(d, over_step, copied(to + 192, from + 192));
  }
  d = folded(folded(folded(a, over_register, b), over_register, c), over_register, d);
  for (; end - from >= 64; to += 64, from += 64) {
    d = folded(d, over_register, copied(to, from));
  }
  state = reduced(d);
  // Dirty upper halves would slow every legacy SSE instruction that follows.
  _mm256_zeroupper();
  return by_blocks(state, to, from, static_cast<std::size_t>(end - from));
}

#undef IWARP_TARGET

}  // namespace

Kernel in_one_pass() {
  const bool usable = __builtin_cpu_supports("avx512f") != 0 &&
                      __builtin_cpu_supports("vpclmulqdq") != 0 &&
                      __builtin_cpu_supports("sse4.2") != 0;
  return usable ? &one_pass : nullptr;
}

#else

Kernel in_one_pass() { return nullptr; }

#endif

}  // namespace iwarp::crc32c_copy
