#pragma once

namespace iwarp::rspreload {

/// Which of the program's descriptors are rsockets. An rsocket has its own descriptor; dup and
/// the like make more that mean the same one. Thread-safe.
///
/// A child of fork keeps the descriptors, but the rsockets stay the parent's: there the functions
/// below know them, and rsockets answer EBADF.

/// The rsocket that `fd` means, or -1.
[[nodiscard]] int rsocket_of(int fd);
/// Notes a new rsocket, known by its own number. Returns that, or -1 with EMFILE if it is too large
/// to be noted; then the rsocket is closed.
int note(int rsocket);
/// Notes that `fd` means `rsocket` too. As note(); then `fd` is closed.
int note_duplicate(int fd, int rsocket);
/// Whether `fd` is the own number of an rsocket that other descriptors mean, too or still: then it
/// must not become anything else.
[[nodiscard]] bool is_needed_by_others(int fd);
/// As close(2), for an `fd` that means `rsocket`.
int close_noted(int fd, int rsocket);

}  // namespace iwarp::rspreload
