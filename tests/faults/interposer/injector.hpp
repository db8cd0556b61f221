#pragma once

#include "region.hpp"

namespace iwarp::faults {

/// The errno with which this call is to fail, or 0. Counts it. Neither allocates nor changes errno.
/// Any thread; before main() nothing fails, as a program that does not get that far tells nobody.
int fault_of(Call call);

/// What a descriptor names: a disk fails otherwise than a pipe, a terminal or a socket, and an
/// eventfd, for which the kernel has no kind, does not at all.
enum class Kind { kFile, kOther, kEvent };

/// Asks the system without being counted.
Kind kind_of(int fd);

/// The function that would have been called but for the interposer. Ends the process if there is
/// none.
void* next_function(const char* name);

}  // namespace iwarp::faults
