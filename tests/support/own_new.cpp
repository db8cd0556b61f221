#include "support/own_new.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace iwarp::test {
namespace {

std::atomic<Admits> asked{nullptr};

bool admitted() {
  const Admits admits = asked.load();
  return admits == nullptr || admits();
}

}  // namespace

void ask_at_each_new(Admits admits) { asked.store(admits); }

}  // namespace iwarp::test

// In front of the library's. Not inlined: the compiler takes new and free for a mismatch then.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (!iwarp::test::admitted()) throw std::bad_alloc();
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
// As the library's does, which AddressSanitizer has put another one in front of.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return ::operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
