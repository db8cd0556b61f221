#pragma once

#include <string>

#include "iwarp/verbs/error.hpp"

namespace iwarp::rnic {

/// Names another folder than the system's from which rdma-core is taken, for one that was built and
/// not installed. Without effect on programs with more rights than their user.
inline constexpr const char* kChosenFolder = "IWARP_RDMA_CORE";

/// A shared library of the system's: the first of that name in the dynamic linker's order that is
/// not this project's own, of which there may be one in the way, for programs under `iwarp run`.
/// Loaded for good. Errors: ENOENT, with what the
/// dynamic linker said; EBUSY if this process has this project's own of that name.
verbs::Outcome<void*> load_system_library(const std::string& file);

}  // namespace iwarp::rnic
