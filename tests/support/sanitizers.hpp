#pragma once

namespace iwarp::test {

/// What this program is compiled with. A sanitizer takes its time, and has needs of its own.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
inline constexpr bool kSanitizer = kAddressSanitizer || kThreadSanitizer;

/// Why a test whose child would start threads is skipped with a sanitizer.
inline constexpr const char* kNoThreadsInChildren =
    "ThreadSanitizer has no threads in a forked child, and AddressSanitizer's allocator may be "
    "locked there by a thread of the parent";

/// Why a test that cancels a thread in a call that waits is skipped with a sanitizer.
inline constexpr const char* kNoCancelling =
    "AddressSanitizer takes the stack of a cancelled thread for poisoned, and ThreadSanitizer sees "
    "none of the locks that the thread takes behind the call that it was cancelled in";

}  // namespace iwarp::test
