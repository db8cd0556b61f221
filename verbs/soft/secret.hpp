#pragma once

#include <cstdint>
#include <system_error>

#include "iwarp/process/secret.hpp"

namespace iwarp::verbs::soft {

/// process::secret() where there is no going on without one. Throws std::system_error.
inline std::uint64_t require_secret() {
  const auto drawn = process::secret();
  if (!drawn) throw std::system_error(drawn.error(), "the system has no random numbers");
  return *drawn;
}

}  // namespace iwarp::verbs::soft
