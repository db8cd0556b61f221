#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

namespace iwarp::tcp_offload {

/// A callable that can be moved but need not be copied, called at most once: what is told when an
/// asynchronous operation ends. Calling an empty one is a programming error.
template <typename... Args>
class Handler {
 public:
  Handler() = default;        ///< Empty.
  Handler(std::nullptr_t) {}  ///< Empty.

  /// Implicit by intention: a lambda is passed as it is.
  template <typename F>
    requires(!std::same_as<F, Handler> && std::invocable<F&, Args...>)
  Handler(F callable) : callable_(std::make_unique<Holder<F>>(std::move(callable))) {}

  /// Whether there is something to call.
  explicit operator bool() const { return callable_ != nullptr; }

  /// Calls it and leaves the handler empty; what it captured is destroyed when the call returns.
  void operator()(Args... args) {
    const std::unique_ptr<Callable> callable = std::move(callable_);
    callable->call(std::forward<Args>(args)...);
  }

 private:
  struct Callable {
    virtual ~Callable() = default;
    virtual void call(Args... args) = 0;
  };

  template <typename F>
  struct Holder final : Callable {
    explicit Holder(F f) : function(std::move(f)) {}
    void call(Args... args) override { function(std::forward<Args>(args)...); }
    F function;
  };

  std::unique_ptr<Callable> callable_;
};

}  // namespace iwarp::tcp_offload
