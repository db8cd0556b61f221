#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "iwarp/verbs/post_error.hpp"
#include "iwarp/verbs/types.hpp"
#include "soft/qp/work/operations.hpp"

namespace iwarp::verbs::soft {

/// Octets of a list in all.
std::uint64_t octets_of(std::span<const Sge> sges);

/// Of an opcode that is none.
PostError unknown_opcode();

/// What is wrong with a request as such, of `length` octets, in a queue of that capacity. Its index
/// is the caller's to fill in.
std::optional<PostError> check_form(const OperationRow& row, const SendWr& request,
                                    std::uint64_t length, const QpCapacity& capacity);

}  // namespace iwarp::verbs::soft
