#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace iwarp::tcp_offload::kernel {

/// Memory for one operation of Asio's at a time: it begins without asking the system for any. More
/// of them, or a larger one, take memory as usual. Outlives the operation. For the thread that runs
/// it.
class OperationMemory {
 public:
  OperationMemory() = default;
  OperationMemory(const OperationMemory&) = delete;
  OperationMemory& operator=(const OperationMemory&) = delete;

  /// The handler, whose operation is to be kept here.
  template <typename Handler>
  auto used_by(Handler handler) {
    return Using<Handler>{std::move(handler), Allocator<void>(*this)};
  }

 private:
  template <typename T>
  class Allocator {
   public:
    using value_type = T;
    explicit Allocator(OperationMemory& memory) : memory_(&memory) {}
    template <typename U>
    Allocator(const Allocator<U>& other) : memory_(other.memory_) {}

    T* allocate(std::size_t count) { return static_cast<T*>(memory_->take(count * sizeof(T))); }
    void deallocate(T* at, std::size_t /*count*/) { memory_->give_back(at); }
    bool operator==(const Allocator&) const = default;

   private:
    template <typename U>
    friend class Allocator;
    OperationMemory* memory_;
  };

  template <typename Handler>
  struct Using {
    using allocator_type = Allocator<void>;
    [[nodiscard]] allocator_type get_allocator() const { return allocator; }
    template <typename... Args>
    void operator()(Args&&... args) {
      handler(std::forward<Args>(args)...);
    }

    Handler handler;
    allocator_type allocator;
  };

  void* take(std::size_t size) {
    if (taken_ || size > place_.size()) return ::operator new(size);
    taken_ = true;
    return place_.data();
  }
  void give_back(void* at) {
    if (at == place_.data()) {
      taken_ = false;
    } else {
      ::operator delete(at);
    }
  }

  bool taken_ = false;
  alignas(std::max_align_t) std::array<std::byte, 512> place_;
};

}  // namespace iwarp::tcp_offload::kernel
