#pragma once

#include <optional>

#include "iwarp/verbs/types.hpp"
#include "rdma_core.hpp"
#include "work_slot.hpp"

namespace iwarp::rnic {

/// What the adapter has completed, in the verbs' terms; none if the program is not to be told. The
/// request's slot is free afterwards.
std::optional<verbs::Completion> completion_of(const ibv_wc& wc);

/// A completion by which the program learns that a request has been flushed.
verbs::Completion flushed(std::uint64_t wr_id, std::uint32_t qp_number);

}  // namespace iwarp::rnic
