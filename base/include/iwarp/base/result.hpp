#pragma once

#include <optional>
#include <utility>
#include <variant>

namespace iwarp {

/// Wraps an error on its way into a Result: `return failure(Error::kTruncated);`
template <typename E>
struct Failure {
  E error;  ///< What went wrong.
};

/// Wraps an error, see Failure.
template <typename E>
constexpr Failure<std::decay_t<E>> failure(E&& error) {
  return {std::forward<E>(error)};
}

/// A value, or the reason why there is none. Reading the wrong one of the two is a programming
/// error (std::bad_variant_access).
template <typename T, typename E>
class [[nodiscard]] Result {
 public:
  /// A value. Implicit by intention: a function returns its value or a failure() as it is.
  constexpr Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  /// No value. Likewise implicit.
  template <typename F>
  constexpr Result(Failure<F> f) : state_(std::in_place_index<1>, std::move(f.error)) {}

  /// Whether there is a value.
  [[nodiscard]] constexpr bool has_value() const { return state_.index() == 0; }
  /// The same.
  constexpr explicit operator bool() const { return has_value(); }

  constexpr T& value() & { return std::get<0>(state_); }             ///< Precondition: has_value().
  constexpr const T& value() const& { return std::get<0>(state_); }  ///< Likewise.
  constexpr T&& value() && { return std::get<0>(std::move(state_)); }  ///< Likewise.
  constexpr T& operator*() & { return value(); }                       ///< value().
  constexpr const T& operator*() const& { return value(); }            ///< value().
  constexpr T&& operator*() && { return std::move(*this).value(); }    ///< value().
  constexpr T* operator->() { return &value(); }                       ///< Its address.
  constexpr const T* operator->() const { return &value(); }           ///< Its address.

  /// Why there is no value. Precondition: !has_value().
  constexpr const E& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, E> state_;
};

/// Success without a value, or the reason why there is none.
template <typename E>
class [[nodiscard]] Result<void, E> {
 public:
  constexpr Result() = default;  ///< Success.
  /// Failure; implicit as above.
  template <typename F>
  constexpr Result(Failure<F> f) : error_(std::move(f.error)) {}

  /// Whether it is success.
  [[nodiscard]] constexpr bool has_value() const { return !error_.has_value(); }
  /// The same.
  constexpr explicit operator bool() const { return has_value(); }
  /// Why it is none. Precondition: !has_value().
  constexpr const E& error() const { return error_.value(); }

 private:
  std::optional<E> error_;
};

}  // namespace iwarp
