#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/guarded_access.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/ddp/hold.hpp"
#include "iwarp/ddp/stag_table.hpp"

namespace iwarp::ddp {

/// A piece of local memory inside a registered buffer.
struct Sge {
  std::uint64_t address = 0;  ///< Tagged Offset within the buffer that `lkey` names.
  std::uint32_t length = 0;   ///< Octets.
  Stag lkey;                  ///< The buffer.
};

/// The sum of the lengths of a list.
std::uint64_t total_length(std::span<const Sge> list);

/// Copies `data` to `to` such that the last aligned word becomes visible last: a program that polls
/// the end of a buffer sees the rest once it sees the end. Returns where memory was missing, if any
/// was; what lies in front of that may have been written.
[[nodiscard]] MemoryFault place(std::byte* to, ConstBytes data);

/// Why octets were not placed.
struct PlacementError {
  Error error = Error::kMemoryFault;  ///< What is wrong with the buffer.
  MemoryFault fault;                  ///< Of kMemoryFault: where.
};

/// Places `data` into a scatter list from `offset` on. Each element is checked for its own copy.
/// Errors: those of Hold::reach() and place(), kMessageTooLong if the list ends before the data.
Result<void, PlacementError> scatter(Hold& buffers, std::span<const Sge> list, std::uint64_t offset,
                                     ConstBytes data);

}  // namespace iwarp::ddp
