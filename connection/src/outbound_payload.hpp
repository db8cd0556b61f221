#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "iwarp/connection/outbound.hpp"

namespace iwarp::connection {

/// The payload of one segment, where it lies.
struct Outbound::Payload {
  std::array<ConstBytes, kMaxSges> pieces;
  std::size_t count = 0;
  mpa::PayloadUse use = mpa::PayloadUse::kCopy;

  void add(ConstBytes piece) { pieces[count++] = piece; }
  [[nodiscard]] std::span<const ConstBytes> all() const { return std::span(pieces).first(count); }
};

}  // namespace iwarp::connection
