#pragma once

#include <pthread.h>

#include <memory>
#include <new>
#include <system_error>

namespace iwarp {

/// An object of each thread, which goes with the thread. The destructor of a thread_local object
/// would be registered at its first use, and the C library ends the process if it finds no memory
/// for that: here the caller is told. Functions that run at the end of a thread or of the process
/// find one, too: a new one, if the thread's has gone. The code must stay loaded (-z nodelete).
template <typename T>
class OfThread {
 public:
  /// The calling thread's own, made by its first call. Throws std::bad_alloc, std::system_error if
  /// the process has no key left, or what the constructor throws.
  static T& get() {
    if (current == nullptr) make();
    return *current;
  }
  /// The same; null if the thread has none, or none any more.
  static T* existing() noexcept { return current; }

 private:
  // Never deleted: threads may end while the process does.
  class Key {
   public:
    Key() {
      if (const int error = ::pthread_key_create(&key_, destroy); error != 0) {
        throw std::system_error(error, std::system_category(), "pthread_key_create");
      }
    }
    void set(void* value) const {
      if (::pthread_setspecific(key_, value) != 0) throw std::bad_alloc();
    }

   private:
    pthread_key_t key_{};
  };

  static void destroy(void* object) {
    current = nullptr;
    delete static_cast<T*>(object);
  }
  static void make() {
    static const Key key;
    auto made = std::unique_ptr<T>(new T);
    key.set(made.get());
    current = made.release();
  }

  static inline constinit thread_local T* current = nullptr;
};

}  // namespace iwarp
