#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "agent/protocol.hpp"
#include "iwarp/base/bytes.hpp"
#include "iwarp/base/strong_id.hpp"
#include "iwarp/verbs/error.hpp"

/// The lines of PROTOCOL.md, read and written by the agent. The tester has code of its own for
/// that.
namespace iwarp::agent {

/// An `error` answer.
class CommandError : public std::runtime_error {
 public:
  CommandError(std::error_code code, const std::string& sentence)
      : std::runtime_error(sentence), code_(code) {}
  [[nodiscard]] std::error_code code() const { return code_; }

 private:
  std::error_code code_;
};

CommandError refused(std::errc code, const std::string& sentence);
CommandError invalid(const std::string& sentence);

/// The value of a verb, or its Error as a CommandError.
template <typename T>
T require(verbs::Outcome<T> outcome) {
  if (!outcome) throw CommandError(outcome.error().code, outcome.error().message);
  return std::move(outcome).value();
}
inline void require(const verbs::Outcome<void>& outcome) {
  if (!outcome) throw CommandError(outcome.error().code, outcome.error().message);
}

/// `error CODE TEXT`, on one line whatever the text contains.
std::string error_line(std::error_code code, std::string_view text);

/// A command: a word and pairs. Every member throws CommandError (EINVAL) if the tester is wrong.
class Command {
 public:
  explicit Command(std::string_view line);

  [[nodiscard]] const std::string& word() const { return word_; }
  /// Each of `required` is there, and nothing but these and `optional`. Names, separated by spaces.
  void check(std::string_view required, std::string_view optional = {}) const;

  [[nodiscard]] bool has(std::string_view name) const { return pairs_.contains(name); }
  [[nodiscard]] const std::string& text(std::string_view name) const;
  /// Decimal, and at most `most`.
  [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t most = UINT64_MAX) const;
  /// Hexadecimal with 0x, and at most `most`.
  [[nodiscard]] std::uint64_t hex(std::string_view name, std::uint64_t most = UINT64_MAX) const;
  [[nodiscard]] Stag stag(std::string_view name) const {
    return Stag{static_cast<std::uint32_t>(hex(name, UINT32_MAX))};
  }
  [[nodiscard]] std::vector<std::byte> octets(std::string_view name) const;
  /// 0 or 1.
  [[nodiscard]] bool flag(std::string_view name) const { return number(name, 1) == 1; }
  /// The pair `ms`.
  [[nodiscard]] std::chrono::milliseconds wait() const;

 private:
  std::string word_;
  std::map<std::string, std::string, std::less<>> pairs_;
};

/// An `ok` answer.
class Reply {
 public:
  Reply& text(std::string_view name, std::string_view value);
  Reply& number(std::string_view name, std::uint64_t value);
  Reply& stag(std::string_view name, Stag value);
  Reply& address(std::string_view name, std::uint64_t value);
  Reply& octets(std::string_view name, ConstBytes value);
  [[nodiscard]] const std::string& line() const { return line_; }

 private:
  std::string line_ = "ok";
};

}  // namespace iwarp::agent
