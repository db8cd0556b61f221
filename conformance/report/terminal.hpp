#pragma once

#include <map>
#include <ostream>

#include "harness/runner.hpp"
#include "report/outcome.hpp"

namespace iwarp::conform {

/// What a terminal can show.
struct TerminalStyle {
  bool live = false;       ///< A line may be overwritten: the output is a terminal.
  bool colours = false;    ///< Escape codes may colour.
  std::size_t width = 80;  ///< Columns.

  /// Of an open file. NO_COLOR, if set to anything, and TERM=dumb turn colours off.
  static TerminalStyle of(int descriptor);
};

/// A run as it goes along: a line of progress that is overwritten, a line for each case that fails,
/// and the counts at the end. To anything but a terminal only the lines that stay are written. On
/// one they are broken between words, show the first of many octets, and an error that further
/// cases meet is told with their number.
class TerminalSummary {
 public:
  TerminalSummary(std::ostream& out, const TerminalStyle& style) : out_(out), style_(style) {}

  /// `cases`: how many there will be.
  void begin(std::string_view target, std::size_t cases);
  /// A case starts; only a terminal shows it.
  void running(const Case& test);
  void result(const Result& result);
  void end();

 private:
  struct Row {
    Counts counts;
    std::size_t all = 0;
  };

  void say(std::string_view line, std::size_t indent = 2);
  void clear_progress();
  void show_progress(std::string_view current);
  void count(const Result& result);
  void tell(const Result& result);
  void tell_of_the_like();
  std::vector<std::pair<std::string, const Row*>> rows() const;
  void write_table();
  void write_narrow_table();
  void write_reasons();
  std::string coloured(std::string_view text, std::string_view code) const;

  std::ostream& out_;
  TerminalStyle style_;
  bool progress_shown_ = false;
  std::size_t cases_ = 0;
  Clock::time_point began_{};
  Row total_;
  std::vector<std::pair<std::string, Row>> layers_;
  std::map<std::string, std::size_t> reasons_;
  std::string error_;        // that was told last
  std::size_t like_it_ = 0;  // cases that met the same since
};

}  // namespace iwarp::conform
