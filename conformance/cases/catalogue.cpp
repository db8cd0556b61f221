#include "cases/catalogue.hpp"

namespace iwarp::conform {

Cases joined(std::initializer_list<Cases> tables) {
  Cases all;
  for (const Cases& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

// clang-format off
Cases all_cases() {
  return joined({
      mpa_startup_cases(),
      mpa_answer_cases(),
      mpa_initiator_cases(),
      mpa_enhanced_cases(),
      mpa_enhanced_initiator_cases(),
      mpa_fpdu_received_cases(),
      mpa_fpdu_sent_cases(),
      mpa_markers_sent_cases(),
      mpa_markers_received_cases(),
      mpa_close_cases(),
      ddp_header_cases(),
      ddp_untagged_cases(),
      ddp_untagged_fault_cases(),
      ddp_tagged_cases(),
      ddp_terminate_cases(),
      rdmap_header_cases(),
      rdmap_send_cases(),
      rdmap_send_out_cases(),
      rdmap_invalidate_cases(),
      rdmap_write_cases(),
      rdmap_read_cases(),
      rdmap_read_fault_cases(),
      rdmap_read_out_cases(),
      rdmap_atomic_cases(),
      rdmap_atomic_fault_cases(),
      rdmap_atomic_out_cases(),
      rdmap_immediate_cases(),
      rdmap_terminate_cases(),
      rdmap_security_cases(),
  });
}
// clang-format on

}  // namespace iwarp::conform
