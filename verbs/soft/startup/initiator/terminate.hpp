#pragma once

#include <cstddef>
#include <vector>

#include "iwarp/mpa/initiator.hpp"

namespace iwarp::verbs::soft {

/// The FPDU by which an initiator tells that it cannot live with an accepting Reply (RFC 6581 §8
/// and §9): an RDMAP Terminate for the layer LLP (RFC 5040 §4.8), the first FPDU of its stream.
std::vector<std::byte> terminate_fpdu(const mpa::TerminateOrder& order);

}  // namespace iwarp::verbs::soft
