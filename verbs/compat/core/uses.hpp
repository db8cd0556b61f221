#pragma once

#include <mutex>
#include <utility>

namespace iwarp::compat {

/// How many objects of the program need one of its other objects, which must not be destroyed
/// meanwhile (EBUSY).
class Uses {
 public:
  /// False if the object is being destroyed.
  bool add() {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    ++count_;
    return true;
  }
  void drop() {
    const std::lock_guard lock(mutex_);
    --count_;
  }
  /// Whether nothing uses the object; nothing can from then on.
  bool close() {
    const std::lock_guard lock(mutex_);
    closed_ = count_ == 0;
    return closed_;
  }

 private:
  std::mutex mutex_;
  unsigned count_ = 0;
  bool closed_ = false;
};

/// Holds a use until it goes.
class Use {
 public:
  Use() = default;
  explicit Use(Uses& uses) : uses_(uses.add() ? &uses : nullptr) {}
  Use(Use&& other) noexcept : uses_(std::exchange(other.uses_, nullptr)) {}
  Use& operator=(Use&& other) noexcept {
    std::swap(uses_, other.uses_);
    return *this;
  }
  ~Use() {
    if (uses_ != nullptr) uses_->drop();
  }

 private:
  Uses* uses_ = nullptr;
};

}  // namespace iwarp::compat
