#include <array>

#include "crc32c_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace iwarp::crc32c_kernels {

#if defined(__x86_64__)
namespace wide_512 {
namespace {

constexpr std::size_t kRegister = 64;
// Four registers hide the latency of the products.
constexpr std::size_t kStep = 4 * kRegister;

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

std::uint32_t read(std::uint32_t state, const std::byte* from, std::size_t size) {
  return fold(state, Read(from), size);
}

std::uint32_t copy(std::uint32_t state, std::byte* to, const std::byte* from, std::size_t size) {
  return fold(state, Copied(to, from), size);
}

// The registers have to be filled and joined.
constexpr Sizes kSizes{2 * kStep, kRegister};
constexpr Kernel kKernel{&read, kSizes, &copy, kSizes};

}  // namespace
}  // namespace wide_512

const Kernel* in_512_bits() {
  static const bool usable = __builtin_cpu_supports("avx512f") != 0 &&
                             __builtin_cpu_supports("vpclmulqdq") != 0 &&
                             __builtin_cpu_supports("sse4.2") != 0;
  return usable ? &wide_512::kKernel : nullptr;
}

#else

const Kernel* in_512_bits() { return nullptr; }

#endif

}  // namespace iwarp::crc32c_kernels
