#pragma once

#include "iwarp/process/forks.hpp"
#include "iwarp/verbs/error.hpp"
#include "iwarp/verbs/types.hpp"

/// What calls answer on objects that a forked child has inherited; see tcp_offload/process.hpp.
/// They look at nothing of the object but its Origin: it may be locked, or half changed.
namespace iwarp::verbs::soft {

using process::Origin;

inline Failure<Error> refused() {
  return fail(std::errc::no_such_device,
              "it was inherited by fork, and belongs to the parent process");
}

inline Failure<PostError> refused_post() {
  return failure(PostError{std::errc::no_such_device, 0});
}

}  // namespace iwarp::verbs::soft
