#include "soft/scratch.hpp"

#include <pthread.h>

#include <memory>
#include <new>
#include <system_error>

namespace iwarp::verbs::soft {
namespace {

// The destructor of a thread_local object would be registered at its first use, and the C library
// ends the process if it finds no memory for that. This tells. The key is never deleted: threads
// may end while the process does, and the library is not unloaded any more (catch_memory_faults()).
class KeyOfThreads {
 public:
  explicit KeyOfThreads(void (*destroy)(void*)) {
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
