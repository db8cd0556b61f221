#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "agent/verbs_agent/protocol.h"

/// The table of the agent's protocol for C++. The tester and the agent of our own stack share this
/// table and nothing else: each reads and writes lines by its own code.
namespace iwarp::agent_protocol {

inline constexpr std::uint64_t kVersion = PROTOCOL_VERSION;
inline constexpr std::uint16_t kPort = PROTOCOL_PORT;
/// Octets of a line, its LF not counted.
inline constexpr std::size_t kLongestLine = PROTOCOL_LONGEST_LINE;
/// Octets of a region that one `fetch` returns.
inline constexpr std::size_t kMostOctets = PROTOCOL_MOST_OCTETS;
inline constexpr std::uint64_t kLongestWait = PROTOCOL_LONGEST_WAIT;  ///< Milliseconds.

/// A command and its answer. Pairs are names with a space in between.
struct CommandLine {
  std::string_view word, required, optional, feature, answer, optional_answer;
};
struct OperationLine {
  std::string_view word, required, feature;
};
enum class RightTo { kRegion, kRegionOrWindow };
struct AccessLine {
  std::string_view word;
  RightTo to;
  std::string_view feature;
};

/// Stands where there is nothing: no feature, no right, no event.
inline constexpr std::string_view kNone = "none";

#define IWARP_COMMAND(word, required, optional, feature, answer, optional_answer) \
  {#word, required, optional, #feature, answer, optional_answer},
#define IWARP_OPERATION(word, required, feature) {#word, required, #feature},
#define IWARP_RIGHT_TO_REGION RightTo::kRegion
#define IWARP_RIGHT_TO_REGION_OR_WINDOW RightTo::kRegionOrWindow
#define IWARP_ACCESS(word, to, feature) {#word, IWARP_RIGHT_TO_##to, #feature},
inline constexpr CommandLine kCommands[] = {PROTOCOL_COMMANDS(IWARP_COMMAND)};
inline constexpr OperationLine kOperations[] = {PROTOCOL_OPERATIONS(IWARP_OPERATION)};
inline constexpr AccessLine kAccess[] = {PROTOCOL_ACCESS(IWARP_ACCESS)};
inline constexpr std::string_view kFeatures[] = {PROTOCOL_FEATURES(PROTOCOL_NAME)};
inline constexpr std::string_view kEvents[] = {PROTOCOL_EVENTS(PROTOCOL_NAME)};
inline constexpr std::string_view kStatuses[] = {PROTOCOL_STATUSES(PROTOCOL_NAME)};
inline constexpr std::string_view kErrors[] = {PROTOCOL_ERRORS(PROTOCOL_NAME)};
#undef IWARP_ACCESS
#undef IWARP_RIGHT_TO_REGION_OR_WINDOW
#undef IWARP_RIGHT_TO_REGION
#undef IWARP_OPERATION
#undef IWARP_COMMAND

/// Whether `names`, which are separated by spaces, has `name`.
constexpr bool is_among(std::string_view name, std::string_view names) {
  while (!names.empty()) {
    const std::string_view first = names.substr(0, names.find(' '));
    if (first == name) return true;
    names.remove_prefix(std::min(names.size(), first.size() + 1));
  }
  return false;
}

/// The line of a list that has this word, or the list's end.
template <typename Line, std::size_t kLines>
constexpr const Line* find_line(const Line (&lines)[kLines], std::string_view word) {
  return std::ranges::find(lines, word, &Line::word);
}

constexpr bool is_command(std::string_view word) {
  return find_line(kCommands, word) != std::end(kCommands);
}
constexpr bool is_operation(std::string_view word) {
  return find_line(kOperations, word) != std::end(kOperations);
}
constexpr bool is_right(std::string_view word) {
  return find_line(kAccess, word) != std::end(kAccess);
}
constexpr bool is_feature(std::string_view word) {
  return std::ranges::find(kFeatures, word) != std::end(kFeatures);
}
constexpr bool is_event(std::string_view word) {
  return std::ranges::find(kEvents, word) != std::end(kEvents);
}
constexpr bool is_status(std::string_view word) {
  return std::ranges::find(kStatuses, word) != std::end(kStatuses);
}
constexpr bool is_error(std::string_view word) {
  return std::ranges::find(kErrors, word) != std::end(kErrors);
}
/// A pair that some command has.
constexpr bool is_pair(std::string_view name) {
  return std::ranges::any_of(kCommands, [&](const CommandLine& command) {
    return is_among(name, command.required) || is_among(name, command.optional);
  });
}
/// A pair that some answer has.
constexpr bool is_answer_pair(std::string_view name) {
  return std::ranges::any_of(kCommands, [&](const CommandLine& command) {
    return is_among(name, command.answer) || is_among(name, command.optional_answer);
  });
}

/// A word of the table, written in the source. A word that the table does not have does not
/// compile.
template <bool (*kIsWord)(std::string_view)>
class Word {
 public:
  // Not explicit: callers write the word alone.
  consteval Word(const char* text) : text_(text) {
    if (!kIsWord(text_)) throw "the protocol has no such word";
  }
  constexpr operator std::string_view() const { return text_; }
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};
using Command = Word<is_command>;
using Operation = Word<is_operation>;
using Right = Word<is_right>;
using Feature = Word<is_feature>;
using Event = Word<is_event>;
using Status = Word<is_status>;
using ErrorCode = Word<is_error>;
using Pair = Word<is_pair>;
using AnswerPair = Word<is_answer_pair>;

}  // namespace iwarp::agent_protocol
