// The CRC32c of payloads that lie in the cache, as a receiver checks them, and copies of payloads
// with their CRC32c, as framing makes them: out of buffers of some size (in KiB)
// into 256 KiB that are used again and again, and then, as a socket does it, out of these into
// others. Octets per second are those of the payload.
#include <benchmark/benchmark.h>
#include <isa-l/crc.h>

#include <cstring>
#include <vector>

#include "crc32c_copy.hpp"
#include "iwarp/base/crc32c.hpp"

namespace {

using iwarp::Crc32c;

constexpr std::size_t kArena = std::size_t{256} << 10U;
constexpr std::size_t kSocket = std::size_t{4} << 20U;

// A buffer that is walked from end to end, again and again.
class Walk {
 public:
  explicit Walk(std::size_t size) : octets_(size, std::byte{0x5A}) {}
  std::byte* next(std::size_t size) {
    if (at_ + size > octets_.size()) at_ = 0;
    at_ += size;
    return octets_.data() + at_ - size;
  }

 private:
  std::vector<std::byte> octets_;
  std::size_t at_ = 0;
};

std::uint32_t only_copy(std::uint32_t state, std::byte* to, const std::byte* from,
                        std::size_t size) {
  std::memcpy(to, from, size);
  return state;
}

std::uint32_t whole_then_crc(std::uint32_t state, std::byte* to, const std::byte* from,
                             std::size_t size) {
  std::memcpy(to, from, size);
  Crc32c crc = Crc32c::from_state(state);
  crc.update({to, size});
  return crc.state();
}

void copy(benchmark::State& state, iwarp::crc32c_copy::Kernel kernel) {
  if (kernel == nullptr) return state.SkipWithError("this processor lacks its instructions");
  const auto size = static_cast<std::size_t>(state.range(0));
  Walk source((static_cast<std::size_t>(state.range(1)) << 10U) + size), arena(kArena + size),
      socket(kSocket + size);
  std::uint32_t crc = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    std::byte* const at = arena.next(size);
    crc = kernel(crc, at, source.next(size), size);
    std::memcpy(socket.next(size), at, size);
    benchmark::DoNotOptimize(crc);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// What there was before: the CRC of the source, which the socket copies afterwards.
void referenced(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Walk source((static_cast<std::size_t>(state.range(1)) << 10U) + size), socket(kSocket + size);
  Crc32c crc;
  for (auto unused : state) {
    static_cast<void>(unused);
    std::byte* const from = source.next(size);
    crc.update({from, size});
    std::memcpy(socket.next(size), from, size);
    benchmark::DoNotOptimize(crc.state());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

std::uint32_t by_library(std::uint32_t state, std::byte* from, std::size_t size) {
  return crc32_iscsi(reinterpret_cast<unsigned char*>(from), static_cast<int>(size), state);
}

std::uint32_t by_update(std::uint32_t state, std::byte* from, std::size_t size) {
  Crc32c crc = Crc32c::from_state(state);
  crc.update({from, size});
  return crc.state();
}

void check(benchmark::State& state,
           std::uint32_t (*crc_of)(std::uint32_t, std::byte*, std::size_t)) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Walk received(kArena + size);
  std::uint32_t crc = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    crc = crc_of(crc, received.next(size), size);
    benchmark::DoNotOptimize(crc);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

BENCHMARK_CAPTURE(check, library, &by_library)->Arg(256)->Arg(1444)->Arg(8944)->Arg(64768);
BENCHMARK_CAPTURE(check, update, &by_update)->Arg(256)->Arg(1444)->Arg(8944)->Arg(64768);

const std::vector<std::vector<std::int64_t>> kShapes = {{1428, 8944, 64754}, {256, 16384}};

BENCHMARK_CAPTURE(copy, without_crc, &only_copy)->ArgsProduct(kShapes);
BENCHMARK_CAPTURE(copy, whole_then_crc, &whole_then_crc)->ArgsProduct(kShapes);
BENCHMARK_CAPTURE(copy, by_blocks, &iwarp::crc32c_copy::by_blocks)->ArgsProduct(kShapes);
BENCHMARK_CAPTURE(copy, in_256_bits, iwarp::crc32c_copy::in_256_bits())->ArgsProduct(kShapes);
BENCHMARK_CAPTURE(copy, in_512_bits, iwarp::crc32c_copy::in_512_bits())->ArgsProduct(kShapes);
BENCHMARK(referenced)->ArgsProduct(kShapes);

}  // namespace

BENCHMARK_MAIN();
