#pragma once

#include <infiniband/verbs.h>

#include "iwarp/verbs/types.hpp"

namespace iwarp::compat {

ibv_wc_status status_of(verbs::Status status);
/// The opcode of a completion in the C interface's numbers.
ibv_wc_opcode opcode_of(const verbs::Completion& completion);
unsigned flags_of(const verbs::Completion& completion);
void fill(ibv_wc& to, const verbs::Completion& from);

/// Verbs have 32 bits of immediate data, in network byte order; RFC 7306 §6 has 64: the verbs' come
/// first, zeros behind them.
std::uint64_t immediate_of(__be32 data);
__be32 immediate_of(std::uint64_t immediate);

}  // namespace iwarp::compat
