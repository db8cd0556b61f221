#pragma once

#include <spdlog/fmt/fmt.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "iwarp/verbs/error.hpp"

/// What the subcommands of the `iwarp` program share. A subcommand registers itself on the CLI11
/// application (commands.hpp), runs in CLI11's callback and ends by returning, or by throwing a
/// CommandError, which main() prints as one sentence.
namespace iwarp::cli {

/// The exit statuses of the program.
enum class ExitStatus : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kCannotExecute = 126,  ///< As a shell says it of a program: it is there, but cannot be run.
  kNotFound = 127,       ///< Likewise: it is not there.
};

/// What a subcommand prints on standard output.
enum class Output { kHuman, kJson };

/// Whether a bar on the terminal shows how far a transfer is.
enum class ProgressBar { kAutomatic, kNever };

/// What the command line says to every subcommand, and what comes out.
struct Context {
  Output output = Output::kHuman;
  ProgressBar progress_bar = ProgressBar::kAutomatic;
  std::string log_level = "warning";
  std::string device;  ///< --device (device.hpp); empty: it is not given.
  int exit_status = 0;
  std::vector<std::string> program;  ///< For `run`: the program and its arguments.
};

/// Ends a subcommand: one sentence without "iwarp: " and without a full stop, and the exit status.
class CommandError : public std::runtime_error {
 public:
  explicit CommandError(const std::string& sentence, ExitStatus status = ExitStatus::kFailed)
      : std::runtime_error(sentence), status_(status) {}

  [[nodiscard]] ExitStatus status() const { return status_; }

 private:
  ExitStatus status_;
};

/// A CommandError of status 2.
inline CommandError usage_error(const std::string& sentence) {
  return CommandError(sentence, ExitStatus::kUsage);
}

/// The value of a verb, or a CommandError that says `what` failed and why.
template <typename T>
T require(verbs::Outcome<T> outcome, const std::string& what) {
  if (!outcome) throw CommandError(fmt::format("{}: {}", what, outcome.error().message));
  return std::move(outcome).value();
}
/// The same of a verb whose error names itself what failed.
template <typename T>
T require(verbs::Outcome<T> outcome) {
  if (!outcome) throw CommandError(outcome.error().message);
  return std::move(outcome).value();
}
inline void require(const verbs::Outcome<void>& outcome, const std::string& what) {
  if (!outcome) throw CommandError(fmt::format("{}: {}", what, outcome.error().message));
}

/// Prints "iwarp: SENTENCE" as one line on standard error; on a terminal, in lines that are broken
/// between words. Control characters, which may come from a peer, are replaced.
void print_error(const std::string& sentence);

/// The same of what ended a subcommand, even where there is no memory left.
void print_failure(const std::exception& failure) noexcept;

/// What an exception says, where nothing better is known. Lives as long as the exception.
const char* describe(const std::exception& failure) noexcept;

}  // namespace iwarp::cli
