#include "cases/catalogue.hpp"

namespace iwarp::conform {

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& cases : {
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
           rdmap_send_cases(),
       }) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

}  // namespace iwarp::conform
