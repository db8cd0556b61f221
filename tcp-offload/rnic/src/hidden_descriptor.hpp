#pragma once

#include "iwarp/process/descriptor.hpp"
#include "iwarp/process/forks.hpp"

namespace iwarp::rnic {

/// A descriptor of this provider's own, which no program is shown: forked children do not have it.
class HiddenDescriptor {
 public:
  HiddenDescriptor() = default;  ///< None.
  /// Takes `fd`; -1 is none. Throws std::bad_alloc, and closes it then.
  explicit HiddenDescriptor(int fd) : fd_(fd), in_children_(fd) {}
  HiddenDescriptor(HiddenDescriptor&&) noexcept = default;
  HiddenDescriptor& operator=(HiddenDescriptor&&) noexcept = default;
  // In a child the number may be another's by now.
  ~HiddenDescriptor() {
    if (origin_.inherited()) static_cast<void>(fd_.release());
  }

  /// The descriptor, which stays this object's; -1 for none.
  [[nodiscard]] int get() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }

 private:
  process::Origin origin_;
  process::Descriptor fd_;
  process::ClosedInChildren in_children_;  // goes before it
};

}  // namespace iwarp::rnic
