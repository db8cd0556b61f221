#include "soft/mpa_offload.hpp"

#include "iwarp/tcp_offload/error.hpp"

namespace iwarp::verbs::soft {
namespace {

mpa::Markers markers_if(bool any) { return any ? mpa::Markers::kOn : mpa::Markers::kOff; }

}  // namespace

tcp_offload::MpaTerms mpa_terms(const mpa::StreamModes& negotiated) {
  return {.crc = negotiated.crc == mpa::Crc::kOn,
          .markers_sent = negotiated.markers_tx == mpa::Markers::kOn,
          .markers_received = negotiated.markers_rx == mpa::Markers::kOn};
}

mpa::StreamModes left_to_software(const mpa::StreamModes& negotiated, tcp_offload::Offloads taken) {
  const tcp_offload::MpaTerms left = tcp_offload::left_to_host(mpa_terms(negotiated), taken);
  return {.crc = left.crc ? mpa::Crc::kOn : mpa::Crc::kOff,
          .markers_tx = markers_if(left.markers_sent),
          .markers_rx = markers_if(left.markers_received)};
}

mpa::Error reason_of_bad_fpdu(const std::error_code& error) {
  return error == tcp_offload::Error::kBadMarker ? mpa::Error::kMarkerMismatch
                                                 : mpa::Error::kCrcMismatch;
}

}  // namespace iwarp::verbs::soft
