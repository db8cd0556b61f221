#pragma once

#include <string>

namespace iwarp::cli {

/// The directory of our libibverbs.so.1 and librdmacm.so.1: what IWARP_LIBRARY_DIR names, else the
/// one that belongs to this executable, in a build tree or installed. An absolute path; a
/// CommandError if the libraries are not there.
std::string library_directory();

/// Puts `directory` before what LD_LIBRARY_PATH says already. A CommandError if the path cannot be
/// said there (a colon or a semicolon in it).
void prepend_library_path(const std::string& directory);

/// Has both libraries of `directory` loaded before any other (LD_PRELOAD), for a program whose own
/// search path comes before LD_LIBRARY_PATH. A CommandError if the path cannot be said there.
void preload_libraries(const std::string& directory);

}  // namespace iwarp::cli
