#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "iwarp/rdmap/send_queue.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::verbs::soft {

/// What the gather or scatter list of a request has to be.
enum class ListRule : std::uint8_t {
  kAny,
  kNone,
  kAtomicWord,  ///< RFC 7306 §5: eight octets in all.
};

/// One kind of send work request, from the verb to its completion.
struct OperationRow {
  Opcode opcode;                ///< As the program posts it.
  rdmap::Operation operation;   ///< As RDMAP sends it.
  rdmap::Operation solicited;   ///< The same with SendFlags::kSolicited.
  CompletionOpcode completion;  ///< As its completion names it.
  ListRule list;
  bool may_be_inline;  ///< The program hands its payload over instead of naming it.
};

/// The one table of them, in the order of Opcode. What sends nothing is rdmap::Operation::kLocal.
inline constexpr OperationRow kOperations[] = {
    {Opcode::kSend, rdmap::Operation::kSend, rdmap::Operation::kSendSolicited,
     CompletionOpcode::kSend, ListRule::kAny, true},
    {Opcode::kSendInvalidate, rdmap::Operation::kSendInvalidate,
     rdmap::Operation::kSendSolicitedInvalidate, CompletionOpcode::kSend, ListRule::kAny, true},
    {Opcode::kWrite, rdmap::Operation::kWrite, rdmap::Operation::kWrite, CompletionOpcode::kWrite,
     ListRule::kAny, true},
    {Opcode::kRead, rdmap::Operation::kRead, rdmap::Operation::kRead, CompletionOpcode::kRead,
     ListRule::kAny, false},
    {Opcode::kImmediate, rdmap::Operation::kImmediate, rdmap::Operation::kImmediateSolicited,
     CompletionOpcode::kImmediate, ListRule::kNone, true},
    {Opcode::kWriteImmediate, rdmap::Operation::kWriteImmediate,
     rdmap::Operation::kWriteImmediateSolicited, CompletionOpcode::kWrite, ListRule::kAny, true},
    {Opcode::kFetchAdd, rdmap::Operation::kFetchAdd, rdmap::Operation::kFetchAdd,
     CompletionOpcode::kFetchAdd, ListRule::kAtomicWord, false},
    {Opcode::kCmpSwap, rdmap::Operation::kCmpSwap, rdmap::Operation::kCmpSwap,
     CompletionOpcode::kCmpSwap, ListRule::kAtomicWord, false},
    {Opcode::kBindWindow, rdmap::Operation::kLocal, rdmap::Operation::kLocal,
     CompletionOpcode::kBindWindow, ListRule::kNone, false},
    {Opcode::kInvalidate, rdmap::Operation::kLocal, rdmap::Operation::kLocal,
     CompletionOpcode::kInvalidate, ListRule::kNone, false},
    {Opcode::kRegister, rdmap::Operation::kLocal, rdmap::Operation::kLocal,
     CompletionOpcode::kRegister, ListRule::kNone, false},
};

/// The row of a verb; null if there is no such verb.
constexpr const OperationRow* row_of(Opcode opcode) {
  const auto at = static_cast<std::size_t>(opcode);
  return at < std::size(kOperations) ? &kOperations[at] : nullptr;
}

/// The last column by what RDMAP sends: looked up for each completion.
inline constexpr auto kCompletions = [] {
  std::array<CompletionOpcode, static_cast<std::size_t>(rdmap::Operation::kLocal) + 1> opcodes{};
  for (const OperationRow& row : kOperations) {
    opcodes[static_cast<std::size_t>(row.operation)] = row.completion;
    opcodes[static_cast<std::size_t>(row.solicited)] = row.completion;
  }
  return opcodes;
}();
/// How the completion names what RDMAP sends. Precondition: it is not kLocal.
constexpr CompletionOpcode completion_of(rdmap::Operation operation) {
  return kCompletions[static_cast<std::size_t>(operation)];
}

static_assert(
    [] {
      for (const OperationRow& row : kOperations) {
        if (row_of(row.opcode) != &row) return false;
      }
      return true;
    }(),
    "the table is in the order of Opcode");

}  // namespace iwarp::verbs::soft
