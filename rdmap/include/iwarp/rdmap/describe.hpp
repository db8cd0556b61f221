#pragma once

#include <string>

#include "iwarp/base/bytes.hpp"
#include "iwarp/rdmap/read_request.hpp"
#include "iwarp/rdmap/terminate.hpp"

/// Headers in words, for people who look for what went wrong: the fields under the RFCs' names,
/// valid or not. Nothing of this is on a data path.
namespace iwarp::rdmap {

/// The header at the start of a DDP Segment, field by field (RFC 5041 §4.2 and §4.3, RFC 5040
/// §4.1): "tagged: opcode 0 (RDMA Write), L 1, STag 0x00000100, TO 0x0000000000001000". Of a header
/// that is cut, what is there; versions only if they are not 1.
std::string describe_header(ConstBytes segment);

/// The five fields of an RDMA Read Request Header (RFC 5040 §4.4).
std::string describe(const ReadRequest& request);

/// What a Terminate carries beside its cause, on one line; empty if it carries nothing.
std::string describe_headers(const Terminate& message);

}  // namespace iwarp::rdmap
