#pragma once

#include "region.hpp"

namespace iwarp::faults {

/// The errno with which this call is to fail, or 0. Counts it. Neither allocates nor changes errno.
/// Any thread; before main() nothing fails, as a program that does not get that far tells nobody.
int fault_of(Call call);

/// Asked of the system without being counted.
bool is_regular_file(int fd);

/// The function that would have been called but for the interposer. Ends the process if there is
/// none.
void* next_function(const char* name);

}  // namespace iwarp::faults
