#include "crc32c_fold.hpp"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace iwarp::crc32c_fold {

#if defined(__x86_64__)
namespace {

constexpr std::size_t kRegister = 64;
// Four registers hide the latency of the products.
constexpr std::size_t kStep = 4 * kRegister;

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
constexpr Fold kOverRegister = fold_over(8 * kRegister);

#define IWARP_TARGET __attribute__((target("avx512f,vpclmulqdq,sse4.2")))

IWARP_TARGET __m512i constants(Fold fold) {
  return _mm512_set4_epi64(static_cast<long long>(fold.second), static_cast<long long>(fold.first),
                           static_cast<long long>(fold.second), static_cast<long long>(fold.first));
}

// The octets of the range, a register at a time.
class Read {
 public:
  explicit Read(const std::byte* from) : from_(from) {}
  IWARP_TARGET __m512i next() {
    const __m512i octets = _mm512_loadu_si512(from_);
    from_ += kRegister;
    return octets;
  }

 private:
  const std::byte* from_;
};

// The same, and they are copied. The compiler may not read the source twice, instead of keeping
// what it has read.
class Copied {
 public:
  Copied(std::byte* to, const std::byte* from) : to_(to), from_(from) {}
  IWARP_TARGET __m512i next() {
    __m512i octets = _mm512_loadu_si512(from_);
    asm volatile("" : "+v"(octets));
    _mm512_storeu_si512(to_, octets);
    from_ += kRegister;
    to_ += kRegister;
    return octets;
  }

 private:
  std::byte* to_;
  const std::byte* from_;
};

IWARP_TARGET __m512i folded(__m512i sum, __m512i over, __m512i next) {
  constexpr int kXorOfThree = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(sum, over, 0x00),
                                   _mm512_clmulepi64_epi128(sum, over, 0x11), next, kXorOfThree);
}

// The CRC of what a register stands for.
IWARP_TARGET std::uint32_t reduced(__m512i sum) {
  alignas(kRegister) std::array<std::uint64_t, 8> words;
  _mm512_store_si512(words.data(), sum);
  std::uint64_t state = 0;
  for (const std::uint64_t word : words) state = _mm_crc32_u64(state, word);
  return static_cast<std::uint32_t>(state);
}

// The state so far counts like 32 bits that are added to the first ones.
template <typename Octets>
IWARP_TARGET std::uint32_t fold(std::uint32_t state, Octets octets, std::size_t size) {
  const __m512i over_step = constants(kOverStep);
  const __m512i over_register = constants(kOverRegister);
  __m512i a = octets.next();
  __m512i b = octets.next();
  __m512i c = octets.next();
  __m512i d = octets.next();
  a = _mm512_xor_si512(a, _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state))));
  for (size -= kStep; size >= kStep; size -= kStep) {
    a = folded(a, over_step, octets.next());
    b = folded(b, over_step, octets.next());
    c = folded(c, over_step, octets.next());
    d = folded(d, over_step, octets.next());
  }
  d = folded(folded(folded(a, over_register, b), over_register, c), over_register, d);
  for (; size != 0; size -= kRegister) d = folded(d, over_register, octets.next());
  state = reduced(d);
  // Dirty upper halves would slow every legacy SSE instruction that follows.
  _mm256_zeroupper();
  return state;
}

#undef IWARP_TARGET

}  // namespace

bool usable() {
  static const bool there_is_all = __builtin_cpu_supports("avx512f") != 0 &&
                                   __builtin_cpu_supports("vpclmulqdq") != 0 &&
                                   __builtin_cpu_supports("sse4.2") != 0;
  return there_is_all;
}

// Below two steps other ways are as fast, as the registers have to be filled and joined.
std::size_t foldable(std::size_t size) { return size < 2 * kStep ? 0 : size & ~(kRegister - 1); }

std::uint32_t read(std::uint32_t state, const std::byte* from, std::size_t size) {
  return fold(state, Read(from), size);
}

std::uint32_t copy(std::uint32_t state, std::byte* to, const std::byte* from, std::size_t size) {
  return fold(state, Copied(to, from), size);
}

#else

bool usable() { return false; }
std::size_t foldable(std::size_t) { return 0; }
std::uint32_t read(std::uint32_t state, const std::byte*, std::size_t) { return state; }
std::uint32_t copy(std::uint32_t state, std::byte*, const std::byte*, std::size_t) { return state; }

#endif

}  // namespace iwarp::crc32c_fold
