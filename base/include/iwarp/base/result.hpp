#pragma once

#include <optional>
#include <utility>
#include <variant>

namespace iwarp {

/// Wraps an error on its way into a Result: `return failure(Error::kTruncated);`
template <typename E>
struct Failure {
  E error;
};

template <typename E>
constexpr Failure<std::decay_t<E>> failure(E&& error) {
  return {std::forward<E>(error)};
}

/// A value, or the reason why there is none. Reading the wrong one of the two is a programming
/// error (std::bad_variant_access).
template <typename T, typename E>
class [[nodiscard]] Result {
 public:
  // Implicit by intention: a function returns its value or a failure() as it is.
  constexpr Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  template <typename F>
  constexpr Result(Failure<F> f) : state_(std::in_place_index<1>, std::move(f.error)) {}

  [[nodiscard]] constexpr bool has_value() const { return state_.index() == 0; }
  constexpr explicit operator bool() const { return has_value(); }

  constexpr T& value() & { return std::get<0>(state_); }
  constexpr const T& value() const& { return std::get<0>(state_); }
  constexpr T&& value() && { return std::get<0>(std::move(state_)); }
  constexpr const E& error() const { return std::get<1>(state_); }

  constexpr T& operator*() & { return value(); }
  constexpr const T& operator*() const& { return value(); }
  constexpr T&& operator*() && { return std::move(*this).value(); }
  constexpr T* operator->() { return &value(); }
  constexpr const T* operator->() const { return &value(); }

 private:
  std::variant<T, E> state_;
};

template <typename E>
class [[nodiscard]] Result<void, E> {
 public:
  constexpr Result() = default;
  template <typename F>
  constexpr Result(Failure<F> f) : error_(std::move(f.error)) {}

  [[nodiscard]] constexpr bool has_value() const { return !error_.has_value(); }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr const E& error() const { return error_.value(); }

 private:
  std::optional<E> error_;
};

}  // namespace iwarp
