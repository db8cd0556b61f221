#pragma once

#include <cstdint>
#include <span>

#include "iwarp/ddp/memory.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::verbs::soft {

/// A list of the program's as DDP has it.
inline void copy_sges(std::span<const Sge> from, std::span<ddp::Sge> to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = {reinterpret_cast<std::uintptr_t>(from[i].address), from[i].length, from[i].lkey};
  }
}

}  // namespace iwarp::verbs::soft
