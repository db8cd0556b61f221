#include "iwarp/base/guarded_access.hpp"

#include <atomic>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IWARP_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define IWARP_ADDRESS_SANITIZER
#endif

#if defined(IWARP_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace iwarp {
namespace {

// Always found by the offset from the thread pointer: in a shared library, too, it costs no call,
// and the handler makes none that may allocate.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::atomic<AccessGuard*> current_access{
    nullptr};

}  // namespace

AccessGuard* AccessGuard::current() { return current_access.load(std::memory_order_relaxed); }

// The handler is a function of the same thread, so that fences of the compiler do.
void AccessGuard::begin() {
  current_access.store(this, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void AccessGuard::end() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  current_access.store(nullptr, std::memory_order_relaxed);
}

// An access may be told by the address of its page, or of the line that a machine check is about.
// Octets beside the memory in its own pages are as present as it is.
bool AccessGuard::covers(const void* address) const {
  constexpr std::uintptr_t kPage = 4096;
  const auto page = reinterpret_cast<std::uintptr_t>(address) / kPage;
  const auto first = reinterpret_cast<std::uintptr_t>(first_);
  return size_ != 0 && page >= first / kPage && page <= (first + size_ - 1) / kPage;
}

MemoryFault AccessGuard::fault() const {
#if defined(IWARP_ADDRESS_SANITIZER)
  // The functions that were left have not unmarked their frames. __asan_handle_no_return() may call
  // others that use this part of the stack before it has unmarked that.
  constexpr std::size_t kLeafFrames = 8192;
  auto* const here = static_cast<std::byte*>(__builtin_frame_address(0));
  __asan_unpoison_memory_region(here - kLeafFrames, kLeafFrames);
#endif
  return MemoryFault(fault_);
}

// The compiler expects a way back from calls only, and only from those that it cannot look into: so
// the access is a call by address, and this function is compiled once, for whatever is called. Its
// arguments go on in registers, as they have come.
[[gnu::noinline]] MemoryFault guarded_call(ConstBytes memory, LikeMemcpy access, void* to,
                                           const void* from) {
  AccessGuard guard(memory);
  if (__builtin_setjmp(guard.resume_point_) != 0) return guard.fault();
  guard.begin();
  access(to, from, memory.size());
  AccessGuard::end();
  return {};
}

}  // namespace iwarp
