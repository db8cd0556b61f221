#include "soft/scratch.hpp"

#include <pthread.h>

#include <atomic>
#include <memory>
#include <new>
#include <system_error>

namespace iwarp::verbs::soft {
namespace {

// The destructor of a thread_local object would be registered at its first use, and the C library
// ends the process if it finds no memory for that. This tells. A library that is unloaded takes the
// key with it: the threads that are left must not call what has gone.
class KeyOfThreads {
 public:
  explicit KeyOfThreads(void (*destroy)(void*)) {
    if (const int error = ::pthread_key_create(&key_, destroy); error != 0) {
      throw std::system_error(error, std::system_category(), "pthread_key_create");
    }
  }
  ~KeyOfThreads() {
    over_ = true;
    ::pthread_key_delete(key_);
  }
  KeyOfThreads(const KeyOfThreads&) = delete;
  KeyOfThreads& operator=(const KeyOfThreads&) = delete;

  void set(void* value) const {
    if (over_) return;  // the process ends: what the thread has stays
    if (::pthread_setspecific(key_, value) != 0) throw std::bad_alloc();
  }

 private:
  pthread_key_t key_{};
  std::atomic<bool> over_{false};
};

}  // namespace

void Scratch::make_current() {
  static const KeyOfThreads key([](void* scratch) {
    current = nullptr;
    delete static_cast<Scratch*>(scratch);
  });
  auto made = std::make_unique<Scratch>();
  key.set(made.get());
  current = made.release();
}

}  // namespace iwarp::verbs::soft
