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
      mpa_startup::cases(),
      mpa_answer::cases(),
      mpa_initiator::cases(),
      mpa_enhanced::cases(),
      mpa_enhanced_initiator::cases(),
      mpa_fpdu_received::cases(),
      mpa_fpdu_sent::cases(),
      mpa_markers_sent::cases(),
      mpa_markers_received::cases(),
      mpa_close::cases(),
      ddp_header::cases(),
      ddp_untagged::cases(),
      ddp_untagged_faults::cases(),
      ddp_tagged::cases(),
      ddp_terminate::cases(),
      rdmap_header::cases(),
      rdmap_send::cases(),
      rdmap_send_out::cases(),
      rdmap_invalidate::cases(),
      rdmap_write::cases(),
      rdmap_read::cases(),
      rdmap_read_faults::cases(),
      rdmap_read_out::cases(),
      rdmap_atomic::cases(),
      rdmap_atomic_faults::cases(),
      rdmap_atomic_out::cases(),
      rdmap_immediate::cases(),
      rdmap_terminate::cases(),
      rdmap_security::cases(),
  });
}
// clang-format on

}  // namespace iwarp::conform
