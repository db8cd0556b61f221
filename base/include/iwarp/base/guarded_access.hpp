#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "iwarp/base/bytes.hpp"

namespace iwarp {

/// How an access to memory of the program ended. Memory that was registered may be missing: it has
/// been unmapped or protected since, or the file behind it has become shorter.
class MemoryFault {
 public:
  /// All was there.
  constexpr MemoryFault() = default;
  /// This is what the processor could not reach.
  constexpr explicit MemoryFault(const void* address) : address_(address) {}
  /// Whether memory was missing.
  constexpr explicit operator bool() const { return address_ != nullptr; }
  /// Where; null if none was missing.
  [[nodiscard]] constexpr const void* address() const { return address_; }

 private:
  const void* address_ = nullptr;  // alone, as results in one register cost least
};

/// A function that copies, or does something else with two addresses and a size.
using LikeMemcpy = void* (*)(void* to, const void* from, std::size_t size);

/// A thread's access to memory that may go away at any time, and the place where the thread goes on
/// if it has gone: what guarded() and the handler of the signals that such an access raises know of
/// each other (process::catch_memory_faults()). Without that handler the process ends.
class AccessGuard {
 public:
  AccessGuard(const AccessGuard&) = delete;
  AccessGuard& operator=(const AccessGuard&) = delete;

  /// The access that the calling thread is making, if any. Async-signal-safe.
  [[nodiscard]] static AccessGuard* current();
  /// Whether an access to `address` is what is guarded. Async-signal-safe.
  [[nodiscard]] bool covers(const void* address) const;
  /// Ends it without success. The thread is to go on at the resume point. Async-signal-safe.
  void fail(const void* address) {
    fault_ = address;
    end();
  }
  /// Where __builtin_setjmp() has noted how to come back: frame pointer, instruction, stack
  /// pointer.
  [[nodiscard]] void** resume_point() { return resume_point_; }

 private:
  friend MemoryFault guarded_call(ConstBytes, LikeMemcpy, void*, const void*);
  explicit AccessGuard(ConstBytes memory) : first_(memory.data()), size_(memory.size()) {}
  void begin();
  static void end();
  [[nodiscard]] MemoryFault fault() const;

  const std::byte* const first_;
  const std::size_t size_;
  const void* volatile fault_ = nullptr;  // changed between the two returns of __builtin_setjmp()
  void* resume_point_[5];
};

/// Calls `access` with these addresses and the size of `memory`, the only memory of the program
/// that it reads or writes. It does so as a leaf: it may be left at any instruction, so it takes no
/// lock, allocates nothing and owns nothing. Returns where the memory was missing, if it was; what
/// `access` has done before that stays done. Costs two nanoseconds. Not to be nested.
[[nodiscard]] MemoryFault guarded_call(ConstBytes memory, LikeMemcpy access, void* to,
                                       const void* from);

/// The same for a function object without arguments.
template <typename Access>
[[nodiscard]] MemoryFault guarded(ConstBytes memory, Access access) {
  static_assert(std::is_trivially_destructible_v<Access>);
  const auto call = [](void* object, const void*, std::size_t) {
    (*static_cast<Access*>(object))();
    return object;
  };
  return guarded_call(memory, call, &access, nullptr);
}

/// Copies `from`, which is memory of the program, to `to`.
[[nodiscard]] inline MemoryFault guarded_copy(std::byte* to, ConstBytes from) {
  if (from.empty()) return {};
  return guarded_call(from, std::memcpy, to, from.data());
}

}  // namespace iwarp
