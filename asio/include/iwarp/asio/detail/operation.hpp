#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/version.hpp>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "iwarp/asio/detail/memory_cache.hpp"
#include "iwarp/asio/error.hpp"
#include "iwarp/base/export.hpp"

#if __has_include(<boost/asio/associated_cancellation_slot.hpp>)
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
/// Asio has cancellation slots from Boost 1.77 on.
#define IWARP_ASIO_HAS_CANCELLATION 1
#endif

/// The operations that are under way. Not for use outside of the library.
namespace iwarp::asio::detail {

/// How far an operation is to be given up, as Asio's cancellation types have it.
enum class cancel_scope {
  total,     ///< Only if that leaves no trace.
  terminal,  ///< Even if the connection cannot be used any more.
};

/// The object that an operation was started on: it can give the operation up.
class operation_base;
class IWARP_API canceller {
 public:
  virtual ~canceller() = default;
  /// Does nothing for an operation that it does not have, of which it looks at the address only: a
  /// signal may be raised when the operation has been destroyed.
  virtual void cancel(operation_base& operation, cancel_scope scope) = 0;
};

/// An operation from its start until its handler has been handed to its executor. Its holder ends
/// it once: by submit() or by destroy().
class operation_base {
 public:
  operation_base(const operation_base&) = delete;
  operation_base& operator=(const operation_base&) = delete;

  /// Settles how it has ended. A canceller that may be asked to give it up holds its own lock then.
  void settle(error_code result) { error = result; }
  /// Submits the handler to its executor, never running it in here. It may be destroyed in here, if
  /// the execution context is about to end, so no lock is held that its owner might take.
  void submit() { end_(this, ending::complete); }
  /// Both, where no other object knows of it.
  void complete(error_code result) {
    settle(result);
    submit();
  }
  /// Lets the handler go unheard: its execution context is being destroyed.
  void destroy() { end_(this, ending::destroy); }

  error_code error{};
  operation_base* previous = nullptr;
  operation_base* next = nullptr;

 protected:
  enum class ending { complete, destroy };
  explicit operation_base(void (*end)(operation_base*, ending)) : end_(end) {}
  ~operation_base() = default;

 private:
  void (*end_)(operation_base*, ending);
};

/// What an operation has that ends with an error code only.
struct nothing {};

/// An operation with the place for its result.
template <typename Result>
class operation : public operation_base {
 public:
  using result_type = Result;
  Result result{};

 protected:
  using operation_base::operation_base;
  ~operation() = default;
};

template <typename Result>
struct signature {
  using type = void(error_code, Result);
};
template <>
struct signature<nothing> {
  using type = void(error_code);
};

/// Posts `function`, with the memory of its allocator. Type-erased executors of Boost 1.74 do not
/// ask for that, and take memory twice: the executor of an io_context, which most are, is
/// unwrapped.
template <typename Executor, typename Function>
void submit(const Executor& executor, Function&& function) {
  if constexpr (std::is_same_v<Executor, boost::asio::any_io_executor>) {
    using plain_executor = boost::asio::io_context::executor_type;
    if (const auto* plain = executor.template target<plain_executor>()) {
      return boost::asio::post(*plain, std::forward<Function>(function));
    }
  }
  boost::asio::post(executor, std::forward<Function>(function));
}

/// An operation with its handler: an operation<Result>, or what derives from one.
template <typename Base, typename Handler>
class handler_operation final : public Base {
 public:
  using result_type = typename Base::result_type;
  using executor_type = boost::asio::associated_executor_t<Handler, boost::asio::any_io_executor>;
  // Memory comes from the handler's allocator, or if it has none of its own from our cache.
  using allocator_type = typename std::allocator_traits<boost::asio::associated_allocator_t<
      Handler, memory_cache_allocator<void>>>::template rebind_alloc<handler_operation>;

  static handler_operation* make(Handler handler, const boost::asio::any_io_executor& fallback) {
    allocator_type allocator(
        boost::asio::get_associated_allocator(handler, memory_cache_allocator<void>()));
    auto* memory = std::allocator_traits<allocator_type>::allocate(allocator, 1);
    try {
      return new (memory) handler_operation(std::move(handler), fallback);
    } catch (...) {  // a handler's copy of its executor, or an executor that is empty
      std::allocator_traits<allocator_type>::deallocate(allocator, memory, 1);
      throw;
    }
  }

  handler_operation(Handler handler, const boost::asio::any_io_executor& fallback)
      : Base(&end),
        handler_(std::move(handler)),
        work_(boost::asio::get_associated_executor(handler_, fallback)) {}

  /// Lets the handler's cancellation slot, if it has one, reach `target` as long as that lives.
  template <typename Target>
  void make_cancellable([[maybe_unused]] const std::shared_ptr<Target>& target) {
    // link_of() as the target may be of a type that is not complete here.
#ifdef IWARP_ASIO_HAS_CANCELLATION
    using boost::asio::cancellation_type;
    auto slot = boost::asio::get_associated_cancellation_slot(handler_);
    if (!slot.is_connected()) return;
    slot.assign([this, target = link_of(target)](cancellation_type type) {
      if (type == cancellation_type::none) return;
      const auto alive = target.lock();
      if (!alive) return;
      const bool terminal = (type & cancellation_type::terminal) != cancellation_type::none;
      alive->cancel(*this, terminal ? cancel_scope::terminal : cancel_scope::total);
    });
#endif
  }

 private:
  // Owns an operation that has ended, on its way through the handler's executor.
  class completion {
   public:
    using allocator_type = memory_cache_allocator<void>;
    [[nodiscard]] allocator_type get_allocator() const noexcept { return {}; }

    explicit completion(handler_operation* operation) : operation_(operation) {}
    completion(completion&& other) noexcept
        : operation_(std::exchange(other.operation_, nullptr)) {}
    completion& operator=(completion&&) = delete;
    ~completion() {
      if (operation_ != nullptr) operation_->discard();
    }
    // The memory is free again before the handler runs: the next operation is likely to want it.
    void operator()() {
      handler_operation* own = std::exchange(operation_, nullptr);
      own->forget_slot();
      Handler handler(std::move(own->handler_));
      const error_code error = own->error;
      // After a failure there is none.
      result_type result = error ? result_type() : result_type(std::move(own->result));
      auto work(std::move(own->work_));
      own->discard(handler);
      if constexpr (std::is_same_v<result_type, nothing>) {
        std::move(handler)(error);
      } else {
        std::move(handler)(error, std::move(result));
      }
    }

   private:
    handler_operation* operation_;
  };

  static void end(operation_base* base, typename operation_base::ending how) {
    auto* self = static_cast<handler_operation*>(base);
    if (how == operation_base::ending::destroy) return self->discard();
    const executor_type executor = self->work_.get_executor();
    submit(executor, completion(self));
  }

  void forget_slot() {
#ifdef IWARP_ASIO_HAS_CANCELLATION
    auto slot = boost::asio::get_associated_cancellation_slot(handler_);
    if (slot.is_connected()) slot.clear();
#endif
  }

  // The signal of its slot may be gone: a program may declare it behind the execution context.
  void discard() {
    Handler handler(std::move(handler_));
    auto work(std::move(work_));
    discard(handler);
  }
  void discard(const Handler& moved_handler) {
    allocator_type allocator(
        boost::asio::get_associated_allocator(moved_handler, memory_cache_allocator<void>()));
    this->~handler_operation();
    std::allocator_traits<allocator_type>::deallocate(allocator, this, 1);
  }

  Handler handler_;
  boost::asio::executor_work_guard<executor_type> work_;
};

/// Operations in a row, each on one list at most.
class operation_list {
 public:
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] operation_base* front() const { return first_; }
  void push_back(operation_base& one) {
    one.previous = last_;
    one.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &one;
    last_ = &one;
  }
  void erase(operation_base& one) {
    (one.previous != nullptr ? one.previous->next : first_) = one.next;
    (one.next != nullptr ? one.next->previous : last_) = one.previous;
    one.previous = one.next = nullptr;
  }
  /// Looks at its own only: `one` may have been destroyed.
  [[nodiscard]] bool contains(const operation_base& one) const {
    const operation_base* at = first_;
    while (at != nullptr && at != &one) at = at->next;
    return at != nullptr;
  }
  operation_base* pop_front() {
    operation_base* one = first_;
    if (one != nullptr) erase(*one);
    return one;
  }

 private:
  operation_base* first_ = nullptr;
  operation_base* last_ = nullptr;
};

/// Starts an operation with whatever completion token: `launch(target, operation)` gets it, and
/// ends it sooner or later, never before it has returned to the caller of the initiating function.
/// Without a target, as of a handle that was moved from, it fails.
template <typename Base, typename Token, typename Target, typename Launch>
auto initiate(std::shared_ptr<Target> target, const boost::asio::any_io_executor& executor,
              Token&& token, Launch launch) {
  return boost::asio::async_initiate<Token, typename signature<typename Base::result_type>::type>(
      [target = std::move(target), executor, launch = std::move(launch)](auto&& handler) mutable {
        // The handler may own this lambda, and end while it still runs.
        const auto keep = std::move(target);
        auto start = std::move(launch);
        using handler_type = std::decay_t<decltype(handler)>;
        auto* operation = handler_operation<Base, handler_type>::make(
            std::forward<decltype(handler)>(handler), executor);
        if (!keep) return operation->complete(boost::asio::error::bad_descriptor);
        try {
          operation->make_cancellable(keep);
        } catch (...) {  // no memory for the slot's handler
          operation->destroy();
          throw;
        }
        start(*keep, *operation);
      },
      token);
}

}  // namespace iwarp::asio::detail
