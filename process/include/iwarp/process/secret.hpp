#pragma once

#include <sys/random.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <system_error>

#include "iwarp/base/result.hpp"

namespace iwarp::process {

/// What getrandom(2) is to secret().
using RandomSource = ssize_t (*)(void* to, std::size_t size, unsigned flags);

/// 64 bits that cannot be guessed, each time others, from the system's generator: the only place
/// where numbers that peers must not foresee come from. Waits until that generator has been seeded,
/// which is over soon after the system has started. Opens no file. Thread-safe. Errors: the
/// system's, as ENOSYS of a filter of system calls.
Result<std::uint64_t, std::error_code> secret(RandomSource source = ::getrandom);

}  // namespace iwarp::process
