#include "iwarp/base/crc32c.hpp"

#include <isa-l/crc.h>

#include "crc32c_copy.hpp"
#include "crc32c_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace iwarp {
namespace {

#if defined(__x86_64__)

// Below about this many bytes a loop over the crc32 instruction is as fast as the library call, and
// it leaves the vector registers alone.
constexpr std::size_t kInlineLimit = 160;

__attribute__((target("sse4.2"))) std::uint32_t crc_inline(std::uint32_t crc, const std::byte* at,
                                                           std::size_t size) {
  std::uint64_t wide = crc;
  for (; size >= 8; at += 8, size -= 8) wide = _mm_crc32_u64(wide, load_le<std::uint64_t>(at));
  auto narrow = static_cast<std::uint32_t>(wide);
  for (; size > 0; ++at, --size) narrow = _mm_crc32_u8(narrow, std::to_integer<std::uint8_t>(*at));
  return narrow;
}

bool has_crc_instruction() {
  static const bool present = __builtin_cpu_supports("sse4.2") != 0;
  return present;
}

// The library's vector code leaves the upper halves of the ymm/zmm registers dirty, which slows
// every legacy-SSE instruction that the thread executes afterwards to a third.
__attribute__((target("avx"))) void clear_upper_avx() { _mm256_zeroupper(); }

void clear_upper() {
  static const bool avx = __builtin_cpu_supports("avx") != 0;
  if (avx) clear_upper_avx();
}

#else

constexpr std::size_t kInlineLimit = 0;
std::uint32_t crc_inline(std::uint32_t crc, const std::byte*, std::size_t) { return crc; }
bool has_crc_instruction() { return false; }
void clear_upper() {}

#endif

// The library takes an int and a non-const pointer that it does not write through.
constexpr std::size_t kMostPerCall = std::size_t{1} << 30U;

std::uint32_t crc_library(std::uint32_t crc, const std::byte* at, std::size_t size) {
  auto* bytes = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(at));
  return crc32_iscsi(bytes, static_cast<int>(size), crc);
}

}  // namespace

void Crc32c::update(ConstBytes bytes) {
  const auto* const kernel = bytes.size() > kInlineLimit ? crc32c_kernels::best() : nullptr;
  if (kernel != nullptr) {
    if (const std::size_t size = kernel->reads.taken(bytes.size())) {
      state_ = kernel->read(state_, bytes.data(), size);
      bytes = bytes.subspan(size);
    }
  }
  if (bytes.size() <= kInlineLimit && has_crc_instruction()) {
    state_ = crc_inline(state_, bytes.data(), bytes.size());
    return;
  }
  while (!bytes.empty()) {
    const std::size_t piece = bytes.size() < kMostPerCall ? bytes.size() : kMostPerCall;
    state_ = crc_library(state_, bytes.data(), piece);
    bytes = bytes.subspan(piece);
  }
  clear_upper();
}

void Crc32c::copy(std::byte* to, ConstBytes from) {
  state_ = crc32c_copy::best()(state_, to, from.data(), from.size());
}

}  // namespace iwarp
