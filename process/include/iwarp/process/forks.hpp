#pragma once

#include <atomic>
#include <memory>
#include <utility>

/// What a process has that was forked. A child has a copy of its parent's objects, but of the
/// parent's threads only the one that forked; locks that the others held stay held for ever; and
/// what descriptors name (connections, sets that threads wait at) it shares with the parent. So
/// nothing that was inherited is used or destroyed: only sockets are closed, all at once.
namespace iwarp::process {

namespace detail {
extern std::atomic<unsigned> forks;
}  // namespace detail

/// How many forks lie between this process and the first of its line. Counted in each child before
/// fork() returns there (pthread_atfork).
inline unsigned forks() { return detail::forks.load(std::memory_order_relaxed); }

/// Logs why calls on what was inherited fail; once in a process.
void tell_why_calls_fail();

/// Remembers in which process an object was made. Thread-safe.
class Origin {
 public:
  Origin() : made_in_(forks()) {}  ///< The process that calls this.
  /// Whether this process is not the one that made the object, but was forked from it.
  [[nodiscard]] bool inherited() const { return made_in_ != forks(); }
  /// The same, for a call that fails because of it: at the first in a process the log says why.
  [[nodiscard]] bool refuses() const {
    if (!inherited()) return false;
    tell_why_calls_fail();
    return true;
  }

 private:
  unsigned made_in_;
};

/// Has a descriptor closed in every child that is forked, before fork() returns there, until this
/// goes or release() is called: both are to come before the parent closes the descriptor itself, as
/// its number may be another's from then on. Descriptors from 2^20 on stay open. Not for
/// descriptors that programs are shown: they may have put the numbers into sets of their own.
class ClosedInChildren {
 public:
  ClosedInChildren() = default;  ///< None.
  /// Throws std::bad_alloc.
  explicit ClosedInChildren(int descriptor);
  /// Takes the descriptor over from the other.
  ClosedInChildren(ClosedInChildren&& other) noexcept
      : origin_(other.origin_), descriptor_(std::exchange(other.descriptor_, -1)) {}
  /// The two change theirs.
  ClosedInChildren& operator=(ClosedInChildren&& other) noexcept {
    std::swap(origin_, other.origin_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~ClosedInChildren() { release(); }

  /// Children keep the descriptor from now on.
  void release();
  /// Whether there is one.
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  Origin origin_;
  int descriptor_ = -1;
};

/// Keeps an object that is given up without being destroyed where leak checkers find it.
void keep_inherited(void* object);

/// Gives an object up that was inherited: it is not destroyed, as its destructor might wait for a
/// thread or a lock of the parent, or do something to what is shared.
template <typename T>
void leave_to_parent(std::unique_ptr<T> object) {
  process::keep_inherited(object.release());
}

/// A shared object that is destroyed only in the process that made it. In a forked child it is
/// given up as by leave_to_parent().
template <typename T, typename... Args>
std::shared_ptr<T> make_shared_here(Args&&... args) {
  return {new T(std::forward<Args>(args)...), [origin = Origin()](T* object) {
            std::unique_ptr<T> last(object);
            if (origin.inherited()) leave_to_parent(std::move(last));
          }};
}

/// This process's instance of T, made at the first call and never destroyed: threads may outlive
/// what static destructors end. A forked child gets one of its own, as the other may be locked.
template <typename T>
T& of_this_process() {
  struct Instance {
    T value;
    Origin origin;
    Instance* parents = nullptr;
  };
  static std::atomic<Instance*> current{nullptr};
  Instance* known = current.load();
  while (known == nullptr || known->origin.inherited()) {
    auto made = std::make_unique<Instance>();
    made->parents = known;
    if (current.compare_exchange_strong(known, made.get())) return made.release()->value;
  }
  return known->value;
}

}  // namespace iwarp::process
