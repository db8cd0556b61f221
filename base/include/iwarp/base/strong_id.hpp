#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace iwarp {

/// An integer that does not mix with other integers: a number with a name.
template <typename Tag, typename Rep>
class StrongId {
 public:
  using rep = Rep;  ///< What it is counted in.

  constexpr StrongId() = default;
  /// Never by accident: explicit.
  constexpr explicit StrongId(Rep value) : value_(value) {}

  /// The bare number.
  [[nodiscard]] constexpr Rep value() const { return value_; }
  constexpr auto operator<=>(const StrongId&) const = default;

 private:
  Rep value_ = 0;
};

/// Steering Tag (RFC 5041 §4.2): the name of a Tagged Buffer, 24-bit index and 8-bit key.
using Stag = StrongId<struct StagTag, std::uint32_t>;
/// Tagged Offset (RFC 5041 §4.2), in octets.
using TaggedOffset = StrongId<struct TaggedOffsetTag, std::uint64_t>;
/// Message Sequence Number (RFC 5041 §4.3): starts at 1 and wraps to 0 after 2^32 - 1.
using Msn = StrongId<struct MsnTag, std::uint32_t>;
/// Queue Number (RFC 5041 §4.3).
using QueueNumber = StrongId<struct QueueNumberTag, std::uint32_t>;
/// Message Offset (RFC 5041 §4.3), in octets.
using MessageOffset = StrongId<struct MessageOffsetTag, std::uint32_t>;

/// The MSN that follows `msn`, modulo 2^32.
constexpr Msn next(Msn msn) { return Msn{msn.value() + 1U}; }

}  // namespace iwarp

/// @cond  The hash of the number; Doxygen does not find its way into std.
template <typename Tag, typename Rep>
struct std::hash<iwarp::StrongId<Tag, Rep>> {
  std::size_t operator()(iwarp::StrongId<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};
/// @endcond
