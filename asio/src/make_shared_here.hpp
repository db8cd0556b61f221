#pragma once

#include <memory>
#include <utility>

#include "iwarp/verbs/origin.hpp"

namespace iwarp::asio::detail {

/// A shared object that is destroyed only in the process that made it, see verbs::keep_inherited().
/// The library below has the same for its own objects, which is no part of its interface.
template <typename T, typename... Args>
std::shared_ptr<T> make_shared_here(Args&&... args) {
  return {new T(std::forward<Args>(args)...), [origin = verbs::Origin()](T* object) {
            if (origin.inherited()) {
              verbs::keep_inherited(object);
            } else {
              delete object;
            }
          }};
}

}  // namespace iwarp::asio::detail
