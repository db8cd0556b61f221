#pragma once

namespace iwarp::compat {

/// A number that differs between a process and its forked children: what a child inherits of
/// descriptors and connections is its parent's.
unsigned process_generation();

/// Remembers in which process an object was made.
class Origin {
 public:
  /// Whether this process has inherited the object by fork: the threads behind it are its parent's,
  /// and so are its connections.
  [[nodiscard]] bool inherited() const { return made_in_ != process_generation(); }

 private:
  unsigned made_in_ = process_generation();
};

}  // namespace iwarp::compat
