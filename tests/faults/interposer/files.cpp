// Files, directories and descriptors. Programs that are fortified, or compiled for large files,
// know some of these by other names.
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "wrap.hpp"

#define FAULT_WRAP_FILE(CALL, NAME, PARAMETERS, ARGUMENTS)                           \
  FAULT_DECLARE(ssize_t, NAME, PARAMETERS);                                          \
  ssize_t wrapped_##NAME PARAMETERS {                                                \
    using ::iwarp::faults::Call;                                                     \
    using ::iwarp::faults::Kind;                                                     \
    const Kind kind = ::iwarp::faults::kind_of(fd);                                  \
    const Call call = kind == Kind::kFile ? Call::k_##CALL : Call::k_##CALL##_other; \
    const int error = kind == Kind::kEvent ? 0 : ::iwarp::faults::fault_of(call);    \
    if (error != 0) return ::iwarp::faults::failed<ssize_t>(error);                  \
    return FAULT_NEXT(NAME) ARGUMENTS;                                               \
  }

FAULT_WRAP(open, int, open, (const char* path, int flags, mode_t mode), (path, flags, mode))
FAULT_WRAP(open, int, open64, (const char* path, int flags, mode_t mode), (path, flags, mode))
FAULT_WRAP(open, int, __open_2, (const char* path, int flags), (path, flags))
FAULT_WRAP(open, int, __open64_2, (const char* path, int flags), (path, flags))
FAULT_WRAP(open, int, openat, (int at, const char* path, int flags, mode_t mode),
           (at, path, flags, mode))
FAULT_WRAP(open, int, openat64, (int at, const char* path, int flags, mode_t mode),
           (at, path, flags, mode))
FAULT_WRAP(fopen, FILE*, fopen, (const char* path, const char* mode), (path, mode))
FAULT_WRAP(fopen, FILE*, fopen64, (const char* path, const char* mode), (path, mode))
FAULT_WRAP(opendir, DIR*, opendir, (const char* path), (path))
FAULT_WRAP(opendir, DIR*, fdopendir, (int fd), (fd))
FAULT_WRAP(readdir, dirent*, readdir, (DIR * directory), (directory))
FAULT_WRAP(readdir, dirent64*, readdir64, (DIR * directory), (directory))

FAULT_WRAP_FILE(read, read, (int fd, void* into, size_t size), (fd, into, size))
FAULT_WRAP_FILE(read, __read_chk, (int fd, void* into, size_t size, size_t room),
                (fd, into, size, room))
FAULT_WRAP_FILE(read, readv, (int fd, const struct iovec* into, int count), (fd, into, count))
FAULT_WRAP_FILE(read, pread, (int fd, void* into, size_t size, off_t at), (fd, into, size, at))
FAULT_WRAP_FILE(read, pread64, (int fd, void* into, size_t size, off_t at), (fd, into, size, at))
FAULT_WRAP_FILE(write, write, (int fd, const void* from, size_t size), (fd, from, size))
FAULT_WRAP_FILE(write, writev, (int fd, const struct iovec* from, int count), (fd, from, count))
FAULT_WRAP_FILE(write, pwrite, (int fd, const void* from, size_t size, off_t at),
                (fd, from, size, at))
FAULT_WRAP_FILE(write, pwrite64, (int fd, const void* from, size_t size, off_t at),
                (fd, from, size, at))
FAULT_WRAP(lseek, off_t, lseek, (int fd, off_t to, int whence), (fd, to, whence))
FAULT_WRAP(lseek, off_t, lseek64, (int fd, off_t to, int whence), (fd, to, whence))

FAULT_WRAP(fsync, int, fsync, (int fd), (fd))
FAULT_WRAP(fsync, int, fdatasync, (int fd), (fd))
FAULT_WRAP(ftruncate, int, ftruncate, (int fd, off_t size), (fd, size))
FAULT_WRAP(ftruncate, int, ftruncate64, (int fd, off_t size), (fd, size))
FAULT_WRAP(fallocate, int, fallocate, (int fd, int mode, off_t at, off_t size),
           (fd, mode, at, size))
FAULT_WRAP(fallocate, int, fallocate64, (int fd, int mode, off_t at, off_t size),
           (fd, mode, at, size))
FAULT_WRAP(flock, int, flock, (int fd, int how), (fd, how))

FAULT_WRAP(stat, int, stat, (const char* path, struct stat* into), (path, into))
FAULT_WRAP(stat, int, stat64, (const char* path, struct stat64* into), (path, into))
FAULT_WRAP(stat, int, lstat, (const char* path, struct stat* into), (path, into))
FAULT_WRAP(stat, int, lstat64, (const char* path, struct stat64* into), (path, into))
FAULT_WRAP(stat, int, fstat, (int fd, struct stat* into), (fd, into))
FAULT_WRAP(stat, int, fstat64, (int fd, struct stat64* into), (fd, into))
FAULT_WRAP(stat, int, fstatat, (int at, const char* path, struct stat* into, int flags),
           (at, path, into, flags))
FAULT_WRAP(stat, int, fstatat64, (int at, const char* path, struct stat64* into, int flags),
           (at, path, into, flags))
FAULT_WRAP(stat, int, statx, (int at, const char* path, int flags, unsigned mask, void* into),
           (at, path, flags, mask, into))
FAULT_WRAP(chmod, int, fchmod, (int fd, mode_t mode), (fd, mode))
FAULT_WRAP(chown, int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
FAULT_WRAP(getxattr, ssize_t, getxattr,
           (const char* path, const char* name, void* into, size_t size), (path, name, into, size))
FAULT_WRAP(getxattr, ssize_t, fgetxattr, (int fd, const char* name, void* into, size_t size),
           (fd, name, into, size))
FAULT_WRAP(setxattr, int, setxattr,
           (const char* path, const char* name, const void* from, size_t size, int flags),
           (path, name, from, size, flags))
FAULT_WRAP(setxattr, int, fsetxattr,
           (int fd, const char* name, const void* from, size_t size, int flags),
           (fd, name, from, size, flags))
FAULT_WRAP(setxattr, int, fremovexattr, (int fd, const char* name), (fd, name))

FAULT_WRAP(link, int, linkat, (int from_at, const char* from, int to_at, const char* to, int flags),
           (from_at, from, to_at, to, flags))
FAULT_WRAP(rename, int, rename, (const char* from, const char* to), (from, to))
FAULT_WRAP(rename, int, renameat, (int from_at, const char* from, int to_at, const char* to),
           (from_at, from, to_at, to))
FAULT_WRAP(rename, int, renameat2,
           (int from_at, const char* from, int to_at, const char* to, unsigned flags),
           (from_at, from, to_at, to, flags))
FAULT_WRAP(unlink, int, unlink, (const char* path), (path))
FAULT_WRAP(unlink, int, unlinkat, (int at, const char* path, int flags), (at, path, flags))
FAULT_WRAP(readlink, ssize_t, readlink, (const char* path, char* into, size_t size),
           (path, into, size))
FAULT_WRAP(readlink, ssize_t, readlinkat, (int at, const char* path, char* into, size_t size),
           (at, path, into, size))
FAULT_WRAP(realpath, char*, realpath, (const char* path, char* into), (path, into))

#define FAULT_WRAP_FCNTL(NAME)                                                                  \
  FAULT_DECLARE(int, NAME, (int fd, int what, long value));                                     \
  int wrapped_##NAME(int fd, int what, long value) {                                            \
    using ::iwarp::faults::Call;                                                                \
    const Call call = what == F_DUPFD || what == F_DUPFD_CLOEXEC ? Call::k_dup : Call::k_fcntl; \
    if (const int error = ::iwarp::faults::fault_of(call)) {                                    \
      return ::iwarp::faults::failed<int>(error);                                               \
    }                                                                                           \
    return FAULT_NEXT(NAME)(fd, what, value);                                                   \
  }

FAULT_WRAP_FCNTL(fcntl)
FAULT_WRAP_FCNTL(fcntl64)
FAULT_WRAP(ioctl, int, ioctl, (int fd, unsigned long what, void* value), (fd, what, value))
FAULT_WRAP(dup, int, dup, (int fd), (fd))
FAULT_WRAP(dup, int, dup2, (int fd, int to), (fd, to))
FAULT_WRAP(dup, int, dup3, (int fd, int to, int flags), (fd, to, flags))
FAULT_WRAP(pipe, int, pipe, (int* ends), (ends))
FAULT_WRAP(pipe, int, pipe2, (int* ends, int flags), (ends, flags))

// A close that fails has closed all the same, as on Linux.
FAULT_DECLARE(int, close, (int fd));
int wrapped_close(int fd) {
  const int error = iwarp::faults::fault_of(iwarp::faults::Call::k_close);
  const int result = FAULT_NEXT(close)(fd);
  return error == 0 ? result : iwarp::faults::failed<int>(error);
}
