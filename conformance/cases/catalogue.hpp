#pragma once

#include "cases/tables.hpp"

namespace iwarp::conform {

/// Every case, in the order in which they run: layer by layer, the simple ones first.
Cases all_cases();

// Each file of the folders mpa, ddp and rdmap has a namespace of its own, so that it can call its
// tables and functions what they are there, and is compiled in one unit with others.
// clang-format off
namespace mpa_startup { Cases cases(); }
namespace mpa_answer { Cases cases(); }
namespace mpa_initiator { Cases cases(); }
namespace mpa_enhanced { Cases cases(); }
namespace mpa_enhanced_initiator { Cases cases(); }
namespace mpa_fpdu_received { Cases cases(); }
namespace mpa_fpdu_sent { Cases cases(); }
namespace mpa_markers_sent { Cases cases(); }
namespace mpa_markers_received { Cases cases(); }
namespace mpa_close { Cases cases(); }
namespace ddp_header { Cases cases(); }
namespace ddp_untagged { Cases cases(); }
namespace ddp_untagged_faults { Cases cases(); }
namespace ddp_tagged { Cases cases(); }
namespace ddp_terminate { Cases cases(); }
namespace rdmap_header { Cases cases(); }
namespace rdmap_send { Cases cases(); }
namespace rdmap_send_out { Cases cases(); }
namespace rdmap_invalidate { Cases cases(); }
namespace rdmap_write { Cases cases(); }
namespace rdmap_read { Cases cases(); }
namespace rdmap_read_faults { Cases cases(); }
namespace rdmap_read_out { Cases cases(); }
namespace rdmap_atomic { Cases cases(); }
namespace rdmap_atomic_faults { Cases cases(); }
namespace rdmap_atomic_out { Cases cases(); }
namespace rdmap_immediate { Cases cases(); }
namespace rdmap_terminate { Cases cases(); }
namespace rdmap_security { Cases cases(); }
// clang-format on

}  // namespace iwarp::conform
