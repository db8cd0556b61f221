#pragma once

#include <cstdint>

#include "iwarp/base/bytes.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::verbs::soft {

/// What the process itself has to be allowed to do with memory, for something to be done with it on
/// its behalf.
enum class Touch : std::uint8_t { kRead, kWrite };

/// What a registration with these flags takes. As in the kernel, where a window may be bound it may
/// come to be written to.
Touch touch_of(Access access);

/// Whether the process may touch all of `memory`, at this moment. Small memory is made present by
/// that, as by the program's first access to it; large memory is not, so that a region which a
/// program fills bit by bit takes no more than was filled: there, pages that are missing although
/// the mapping allows the access are found only at the end of a mapping.
[[nodiscard]] bool may_touch(MutableBytes memory, Touch touch);

/// Makes all of `memory` present; false if it is not there to be touched.
bool make_present(MutableBytes memory, Touch touch);

}  // namespace iwarp::verbs::soft
