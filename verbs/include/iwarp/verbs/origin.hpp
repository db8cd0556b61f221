#pragma once

#include "iwarp/base/export.hpp"

namespace iwarp::verbs {

/// Remembers in which process it was made, for what is built on this library: what a forked child
/// inherits of devices and connections is its parent's, see Device. Thread-safe.
class IWARP_API Origin {
 public:
  Origin();  ///< The process that calls this.
  /// Whether this process is not the one that made the object, but was forked from it.
  [[nodiscard]] bool inherited() const;
  /// The same, for a call that fails because of it (ENODEV): the first in a process logs why.
  [[nodiscard]] bool refuses() const;

 private:
  unsigned made_in_;
};

/// Keeps an object for leak checkers to find that was inherited and must not be destroyed: its
/// destructor might wait for a thread or a lock of the parent, or do something to what is shared.
IWARP_API void keep_inherited(void* object);

}  // namespace iwarp::verbs
