#pragma once

/// Defines for a flag enumeration `a | b`, the union of two sets, and `has(set, flag)`: whether all
/// of `flag` is in `set`. To be written behind the enumeration, in its namespace.
#define IWARP_FLAGS(Type)                                                          \
  constexpr Type operator|(Type a, Type b) {                                       \
    return static_cast<Type>(static_cast<unsigned>(a) | static_cast<unsigned>(b)); \
  }                                                                                \
  constexpr bool has(Type set, Type flag) {                                        \
    return (static_cast<unsigned>(set) & static_cast<unsigned>(flag)) ==           \
           static_cast<unsigned>(flag);                                            \
  }
