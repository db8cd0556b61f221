#pragma once

/// Which lock guards what, for clang's analysis of threads (-Wthread-safety, an error in the preset
/// `clang`); nothing for other compilers. The names are those of clang's attributes.

#if defined(__clang__)
#define IWARP_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define IWARP_THREAD_SAFETY(attribute)
#endif

/// A class that is a lock, or a right that one thread at a time has.
#define IWARP_CAPABILITY(name) IWARP_THREAD_SAFETY(capability(name))
/// A class whose objects hold a lock for as long as they live.
#define IWARP_SCOPED_CAPABILITY IWARP_THREAD_SAFETY(scoped_lockable)
/// A member that is touched with that lock held only.
#define IWARP_GUARDED_BY(lock) IWARP_THREAD_SAFETY(guarded_by(lock))
/// A function that is called with the lock held.
#define IWARP_REQUIRES(...) IWARP_THREAD_SAFETY(requires_capability(__VA_ARGS__))
/// A function that takes the lock, and returns with it.
#define IWARP_ACQUIRE(...) IWARP_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
/// The same, if it returns `result`.
#define IWARP_TRY_ACQUIRE(result) IWARP_THREAD_SAFETY(try_acquire_capability(result))
/// A function that gives the lock back.
#define IWARP_RELEASE(...) IWARP_THREAD_SAFETY(release_capability(__VA_ARGS__))
/// A function after which the analysis takes the lock for held: inside of what a lock runs.
#define IWARP_ASSERT_CAPABILITY(lock) IWARP_THREAD_SAFETY(assert_capability(lock))
/// A lock that is taken before the other one where both are.
#define IWARP_ACQUIRED_BEFORE(...) IWARP_THREAD_SAFETY(acquired_before(__VA_ARGS__))
