#pragma once

#include "harness/case.hpp"

namespace iwarp::conform {

/// Every case, in the order in which they run: layer by layer, the simple ones first.
std::vector<Case> all_cases();

// One function per file of this folder.
std::vector<Case> mpa_startup_cases();
std::vector<Case> mpa_answer_cases();
std::vector<Case> mpa_initiator_cases();
std::vector<Case> mpa_enhanced_cases();
std::vector<Case> mpa_enhanced_initiator_cases();
std::vector<Case> mpa_fpdu_received_cases();
std::vector<Case> mpa_fpdu_sent_cases();
std::vector<Case> mpa_markers_sent_cases();
std::vector<Case> mpa_markers_received_cases();
std::vector<Case> mpa_close_cases();
std::vector<Case> ddp_header_cases();
std::vector<Case> ddp_untagged_cases();
std::vector<Case> ddp_untagged_fault_cases();
std::vector<Case> ddp_tagged_cases();
std::vector<Case> ddp_terminate_cases();
std::vector<Case> rdmap_header_cases();
std::vector<Case> rdmap_send_cases();
std::vector<Case> rdmap_send_out_cases();
std::vector<Case> rdmap_invalidate_cases();
std::vector<Case> rdmap_write_cases();
std::vector<Case> rdmap_read_cases();
std::vector<Case> rdmap_read_fault_cases();
std::vector<Case> rdmap_read_out_cases();
std::vector<Case> rdmap_atomic_cases();
std::vector<Case> rdmap_atomic_fault_cases();
std::vector<Case> rdmap_atomic_out_cases();
std::vector<Case> rdmap_immediate_cases();
std::vector<Case> rdmap_terminate_cases();
std::vector<Case> rdmap_security_cases();

}  // namespace iwarp::conform
