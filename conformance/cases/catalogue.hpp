#pragma once

#include "cases/tables.hpp"

namespace iwarp::conform {

/// Every case, in the order in which they run: layer by layer, the simple ones first.
Cases all_cases();

// One function for each file of the folders mpa, ddp and rdmap.
Cases mpa_startup_cases();
Cases mpa_answer_cases();
Cases mpa_initiator_cases();
Cases mpa_enhanced_cases();
Cases mpa_enhanced_initiator_cases();
Cases mpa_fpdu_received_cases();
Cases mpa_fpdu_sent_cases();
Cases mpa_markers_sent_cases();
Cases mpa_markers_received_cases();
Cases mpa_close_cases();
Cases ddp_header_cases();
Cases ddp_untagged_cases();
Cases ddp_untagged_fault_cases();
Cases ddp_tagged_cases();
Cases ddp_terminate_cases();
Cases rdmap_header_cases();
Cases rdmap_send_cases();
Cases rdmap_send_out_cases();
Cases rdmap_invalidate_cases();
Cases rdmap_write_cases();
Cases rdmap_read_cases();
Cases rdmap_read_fault_cases();
Cases rdmap_read_out_cases();
Cases rdmap_atomic_cases();
Cases rdmap_atomic_fault_cases();
Cases rdmap_atomic_out_cases();
Cases rdmap_immediate_cases();
Cases rdmap_terminate_cases();
Cases rdmap_security_cases();

}  // namespace iwarp::conform
