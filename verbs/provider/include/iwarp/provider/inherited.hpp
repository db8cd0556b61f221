#pragma once

#include "iwarp/verbs/error.hpp"
#include "iwarp/verbs/post_error.hpp"

/// What calls answer on objects that a forked child has inherited; see
/// process/forks.hpp. They look at nothing of the object but its process::Origin: it may be locked,
/// or half changed.
namespace iwarp::verbs {

inline Failure<Error> refused() {
  return fail(std::errc::no_such_device,
              "it was inherited by fork, and belongs to the parent process");
}

inline Failure<PostError> refused_post() {
  return failure(PostError{.code = std::errc::no_such_device});
}

}  // namespace iwarp::verbs
