#include <array>
#include <cstring>

#include "crc32c_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/// Registers of 256 bits take some 8 octets a cycle by products without carry, and the crc32
/// instruction takes as many, which is executed elsewhere. What is only read, and so is near, is
/// cut in two parts of which each way takes one, at the same time. The instruction has a latency of
/// three cycles, so that its part is cut in three streams once more. What is copied may come from
/// far away: there the products take all of it, one octet behind the other.
namespace iwarp::crc32c_kernels {

#if defined(__x86_64__)
namespace wide_256 {
namespace {

constexpr std::size_t kRegister = 32;
// What the registers take at a time, and each of the streams of words, if there are any.
constexpr std::size_t kStep = 4 * kRegister;
constexpr std::size_t kWords = 8;
constexpr std::size_t kStreamStep = kWords * sizeof(std::uint64_t);
enum class Streams : bool { kNone, kThree };
constexpr std::size_t granule(Streams streams) {
  return streams == Streams::kThree ? kStep + 3 * kStreamStep : kStep;
}
// Longer blocks gain little, and their streams would lie far apart.
constexpr std::size_t kMostSteps = 64;

constexpr Fold kOverStep = fold_over(8 * kStep);
constexpr Fold kOverRegister = fold_over(8 * kRegister);

// What carries a state over so many steps of a stream: the product of the two, one place too low in
// this order of bits, is reduced by the crc32 instruction, which carries it over 32 bits.
constexpr auto kOverStreamSteps = [] {
  constexpr std::size_t kBits = 8 * kStreamStep;
  std::array<std::uint32_t, 3 * kMostSteps + 1> powers{0, power_of_x(kBits - 33)};
  for (std::size_t steps = 2; steps < powers.size(); ++steps) {
    powers[steps] = times_x(powers[steps - 1], kBits);
  }
  return powers;
}();

#define IWARP_TARGET __attribute__((target("avx2,pclmul,vpclmulqdq,sse4.2")))

IWARP_TARGET __m256i constants(Fold fold) {
  const auto first = static_cast<long long>(fold.first);
  const auto second = static_cast<long long>(fold.second);
  return _mm256_set_epi64x(second, first, second, first);
}

IWARP_TARGET __m256i folded(__m256i sum, __m256i over, __m256i next) {
  const __m256i products = _mm256_xor_si256(_mm256_clmulepi64_epi128(sum, over, 0x00),
                                            _mm256_clmulepi64_epi128(sum, over, 0x11));
  return _mm256_xor_si256(products, next);
}

IWARP_TARGET std::uint32_t reduced(__m256i sum) {
  std::array<std::uint64_t, kRegister / sizeof(std::uint64_t)> words;
  std::memcpy(words.data(), &sum, sizeof sum);
  std::uint64_t state = 0;
  for (const std::uint64_t word : words) state = _mm_crc32_u64(state, word);
  return static_cast<std::uint32_t>(state);
}

IWARP_TARGET std::uint32_t over_stream_steps(std::uint64_t state, std::size_t steps) {
  const __m128i product =
      _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(state)),
                           _mm_cvtsi32_si128(static_cast<int>(kOverStreamSteps[steps])), 0x00);
  return static_cast<std::uint32_t>(
      _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(product))));
}

// Octets of the range, from one place on.
class Read {
 public:
  explicit Read(const std::byte* from) : from_(from) {}
  [[nodiscard]] Read at(std::size_t octets) const { return Read(from_ + octets); }
  IWARP_TARGET __m256i next_register() {
    const __m256i octets = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from_));
    from_ += kRegister;
    return octets;
  }
  std::uint64_t next_word() {
    std::uint64_t word = 0;
    std::memcpy(&word, from_, sizeof word);
    from_ += sizeof word;
    return word;
  }

 private:
  const std::byte* from_;
};

// The same, and they are copied. The compiler may not read the source twice, instead of keeping
// what it has read.
class Copied {
 public:
  Copied(std::byte* to, const std::byte* from) : to_(to), from_(from) {}
  [[nodiscard]] Copied at(std::size_t octets) const { return {to_ + octets, from_.at(octets)}; }
  IWARP_TARGET __m256i next_register() {
    __m256i octets = from_.next_register();
    asm volatile("" : "+x"(octets));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to_), octets);
    to_ += kRegister;
    return octets;
  }
  std::uint64_t next_word() {
    std::uint64_t word = from_.next_word();
    asm volatile("" : "+r"(word));
    std::memcpy(to_, &word, sizeof word);
    to_ += sizeof word;
    return word;
  }

 private:
  Copied(std::byte* to, Read from) : to_(to), from_(from) {}
  std::byte* to_;
  Read from_;
};

// A block of `steps` steps, with streams behind what the registers take or without. The state so
// far counts like 32 bits that are added to the first ones.
template <Streams kStreams, typename Octets>
IWARP_TARGET std::uint32_t block(std::uint32_t state, Octets octets, std::size_t steps) {
  const __m256i over_step = constants(kOverStep);
  const __m256i over_register = constants(kOverRegister);
  const std::size_t stream = steps * kStreamStep;
  Octets first = octets.at(steps * kStep);
  Octets second = first.at(stream);
  Octets third = second.at(stream);
  std::uint64_t x = 0, y = 0, z = 0;
  __m256i a = _mm256_xor_si256(octets.next_register(),
                               _mm256_zextsi128_si256(_mm_cvtsi32_si128(static_cast<int>(state))));
  __m256i b = octets.next_register();
  __m256i c = octets.next_register();
  __m256i d = octets.next_register();
  for (std::size_t step = 1;; ++step) {
    for (std::size_t word = 0; kStreams == Streams::kThree && word < kWords; ++word) {
      x = _mm_crc32_u64(x, first.next_word());
      y = _mm_crc32_u64(y, second.next_word());
      z = _mm_crc32_u64(z, third.next_word());
    }
    if (step == steps) break;
    a = folded(a, over_step, octets.next_register());
    b = folded(b, over_step, octets.next_register());
    c = folded(c, over_step, octets.next_register());
    d = folded(d, over_step, octets.next_register());
  }
  d = folded(folded(folded(a, over_register, b), over_register, c), over_register, d);
  state = reduced(d);
  if constexpr (kStreams == Streams::kThree) {
    state = over_stream_steps(state, 3 * steps) ^ over_stream_steps(x, 2 * steps) ^
            over_stream_steps(y, steps) ^ static_cast<std::uint32_t>(z);
  }
  // Dirty upper halves would slow every legacy SSE instruction that follows.
  _mm256_zeroupper();
  return state;
}

#undef IWARP_TARGET

std::uint32_t read(std::uint32_t state, const std::byte* from, std::size_t size) {
  constexpr std::size_t kGranule = granule(Streams::kThree);
  for (std::size_t left = size / kGranule; left != 0;) {
    const std::size_t steps = left < kMostSteps ? left : kMostSteps;
    state = block<Streams::kThree>(state, Read(from), steps);
    from += steps * kGranule;
    left -= steps;
  }
  return state;
}

std::uint32_t copy(std::uint32_t state, std::byte* to, const std::byte* from, std::size_t size) {
  return block<Streams::kNone>(state, Copied(to, from), size / kStep);
}

// The parts have to be joined, the registers filled.
constexpr Kernel kKernel{
    &read, {8 * granule(Streams::kThree), granule(Streams::kThree)}, &copy, {4 * kStep, kStep}};

}  // namespace
}  // namespace wide_256

const Kernel* in_256_bits() {
  static const bool usable =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("pclmul") != 0 &&
      __builtin_cpu_supports("vpclmulqdq") != 0 && __builtin_cpu_supports("sse4.2") != 0;
  return usable ? &wide_256::kKernel : nullptr;
}

#else

const Kernel* in_256_bits() { return nullptr; }

#endif

}  // namespace iwarp::crc32c_kernels
