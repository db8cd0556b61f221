#pragma once

#include <system_error>

#include "iwarp/mpa/error.hpp"
#include "iwarp/mpa/modes.hpp"
#include "iwarp/tcp_offload/offloads.hpp"

/// What a stream device has to do with MPA, in the words of both: `mpa` and `tcp_offload` do not
/// know each other.
namespace iwarp::verbs::soft {

/// What was negotiated, as the device is told it at the hand-over.
[[nodiscard]] tcp_offload::MpaTerms mpa_terms(const mpa::StreamModes& negotiated);

/// What framing and deframing are left to do when the device takes its part, by
/// tcp_offload::left_to_host().
[[nodiscard]] mpa::StreamModes left_to_software(const mpa::StreamModes& negotiated,
                                                tcp_offload::Offloads taken);

/// Why the device has refused an FPDU (IoStatus::kBadFpdu).
[[nodiscard]] mpa::Error reason_of_bad_fpdu(const std::error_code& error);

}  // namespace iwarp::verbs::soft
