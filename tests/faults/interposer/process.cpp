// Memory, threads, programs, and functions of the C library whose own system calls cannot be
// reached: these fail as a whole.
#include <ifaddrs.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include "wrap.hpp"

namespace iwarp::faults {
namespace {

// Some return the errno.
int returned(int error) { return error; }

int of_resolver(int error) {
  errno = error;
  return error == ENOMEM ? EAI_MEMORY : EAI_SYSTEM;
}

void* mapping_failed(int error) {
  errno = error;
  return MAP_FAILED;
}

}  // namespace
}  // namespace iwarp::faults

// The allocator's own names, since dlsym() allocates.
extern "C" {
void* __libc_malloc(size_t size);                      // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(size_t count, size_t size);        // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* old, size_t size);          // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(size_t alignment, size_t size);  // NOLINT(bugprone-reserved-identifier)
}

#define FAULT_WRAP_MEMORY(NAME, PARAMETERS, ARGUMENTS, REAL)                            \
  FAULT_DECLARE(void*, NAME, PARAMETERS);                                               \
  void* wrapped_##NAME PARAMETERS {                                                     \
    if (const int error = ::iwarp::faults::fault_of(::iwarp::faults::Call::k_malloc)) { \
      return ::iwarp::faults::failed<void*>(error);                                     \
    }                                                                                   \
    return REAL ARGUMENTS;                                                              \
  }

FAULT_WRAP_MEMORY(malloc, (size_t size), (size), __libc_malloc)
FAULT_WRAP_MEMORY(calloc, (size_t count, size_t size), (count, size), __libc_calloc)
FAULT_WRAP_MEMORY(realloc, (void* old, size_t size), (old, size), __libc_realloc)
FAULT_WRAP_MEMORY(memalign, (size_t alignment, size_t size), (alignment, size), __libc_memalign)
FAULT_WRAP_MEMORY(aligned_alloc, (size_t alignment, size_t size), (alignment, size),
                  __libc_memalign)

FAULT_DECLARE(int, posix_memalign, (void** into, size_t alignment, size_t size));
int wrapped_posix_memalign(void** into, size_t alignment, size_t size) {
  if (const int error = iwarp::faults::fault_of(iwarp::faults::Call::k_malloc)) return error;
  void* const memory = __libc_memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *into = memory;
  return 0;
}

FAULT_WRAP_AS(iwarp::faults::mapping_failed, mmap, void*, mmap,
              (void* at, size_t size, int protection, int flags, int fd, off_t from),
              (at, size, protection, flags, fd, from))
FAULT_WRAP_AS(iwarp::faults::mapping_failed, mmap, void*, mmap64,
              (void* at, size_t size, int protection, int flags, int fd, off_t from),
              (at, size, protection, flags, fd, from))
FAULT_WRAP(munmap, int, munmap, (void* at, size_t size), (at, size))
FAULT_WRAP(mprotect, int, mprotect, (void* at, size_t size, int protection), (at, size, protection))
FAULT_WRAP(madvise, int, madvise, (void* at, size_t size, int advice), (at, size, advice))
FAULT_WRAP(mlock, int, mlock, (const void* at, size_t size), (at, size))

FAULT_WRAP_AS(iwarp::faults::returned, fadvise, int, posix_fadvise,
              (int fd, off_t at, off_t size, int advice), (fd, at, size, advice))
FAULT_WRAP_AS(iwarp::faults::returned, fadvise, int, posix_fadvise64,
              (int fd, off_t at, off_t size, int advice), (fd, at, size, advice))
FAULT_WRAP_AS(iwarp::faults::returned, fallocate, int, posix_fallocate,
              (int fd, off_t at, off_t size), (fd, at, size))
FAULT_WRAP_AS(iwarp::faults::returned, fallocate, int, posix_fallocate64,
              (int fd, off_t at, off_t size), (fd, at, size))
FAULT_WRAP_AS(iwarp::faults::returned, pthread_create, int, pthread_create,
              (pthread_t * thread, const pthread_attr_t* with, void* (*body)(void*), void* of),
              (thread, with, body, of))

// pthread_atfork() is linked into each program, and calls this.
FAULT_WRAP_AS(iwarp::faults::returned, pthread_atfork, int, __register_atfork,
              (void (*prepare)(), void (*parent)(), void (*child)(), void* of),
              (prepare, parent, child, of))

FAULT_WRAP(getifaddrs, int, getifaddrs, (ifaddrs * *into), (into))
FAULT_WRAP_AS(iwarp::faults::of_resolver, getaddrinfo, int, getaddrinfo,
              (const char* host, const char* service, const addrinfo* hints, addrinfo** into),
              (host, service, hints, into))

FAULT_WRAP(prctl, int, prctl,
           (int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d),
           (what, a, b, c, d))
FAULT_WRAP(memfd_create, int, memfd_create, (const char* name, unsigned flags), (name, flags))
FAULT_WRAP(getrandom, ssize_t, getrandom, (void* into, size_t size, unsigned flags),
           (into, size, flags))
FAULT_WRAP(prlimit, int, getrlimit, (int what, rlimit* into), (what, into))
FAULT_WRAP(prlimit, int, getrlimit64, (int what, rlimit64* into), (what, into))
FAULT_WRAP(prlimit, int, setrlimit, (int what, const rlimit* to), (what, to))

FAULT_WRAP(exec, int, execve, (const char* path, char* const* words, char* const* environment),
           (path, words, environment))
FAULT_WRAP(exec, int, execv, (const char* path, char* const* words), (path, words))
FAULT_WRAP(exec, int, execvp, (const char* path, char* const* words), (path, words))
FAULT_WRAP(exec, int, execvpe, (const char* path, char* const* words, char* const* environment),
           (path, words, environment))
