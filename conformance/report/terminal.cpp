#include "report/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "report/text.hpp"

namespace iwarp::conform {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::string_view kRed = "31", kGreen = "32", kYellow = "33", kBold = "1";

struct Column {
  Verdict verdict;
  std::string_view heading;
};
constexpr Column kColumns[] = {{Verdict::kPass, "passed"},
                               {Verdict::kFail, "failed"},
                               {Verdict::kError, "errors"},
                               {Verdict::kDeparture, "departures"},
                               {Verdict::kSkip, "skipped"}};

std::string_view colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass: return kGreen;
    case Verdict::kFail:
    case Verdict::kError: return kRed;
    case Verdict::kDeparture:
    case Verdict::kSkip: return kYellow;
  }
  return kRed;
}

std::size_t count_in(const Counts& counts, Verdict verdict) {
  const auto found = counts.find(verdict);
  return found == counts.end() ? 0 : found->second;
}

std::string right(std::string text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}
std::string left(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

// The groups that the case is in, as many as fit: "mpa.startup" of "mpa.startup.one".
std::string_view shortened(std::string_view id, std::size_t width) {
  while (id.size() > width) {
    const std::size_t dot = id.rfind('.');
    id = id.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  return id;
}

// The columns of a word; escape codes take none. Of wide characters the number is too small.
std::size_t columns_of(std::string_view word) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\x1b') {
      i = std::min(word.find('m', i), word.size());
    } else if ((static_cast<unsigned char>(word[i]) & 0xC0) != 0x80) {
      ++columns;
    }
  }
  return columns;
}

// A line in lines of at most `width` columns, broken at its blanks; all but the first are indented.
std::string broken(std::string_view line, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  for (std::size_t begin = 0, end = 0; begin <= line.size(); begin = end + 1) {
    end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    if (begin > 0 && column + 1 + columns_of(word) > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (begin > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns_of(word);
  }
  return out;
}

// Octets that a peer has sent may fill the terminal: of their digits the first. A terminated header
// fits whole.
std::string with_short_octets(std::string_view text) {
  constexpr std::size_t kLongest = 112, kShown = 24;
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end =
        std::min(text.find_first_not_of("0123456789abcdef", begin), text.size());
    const bool cut = end - begin > kLongest;
    out.append(text.substr(begin, cut ? kShown : end - begin)).append(cut ? "…" : "");
    if (end < text.size()) out += text[end];
    begin = end + 1;
  }
  return out;
}

std::string cases_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " case" : " cases");
}

}  // namespace

TerminalStyle TerminalStyle::of(int descriptor) {
  TerminalStyle style;
  style.live = ::isatty(descriptor) == 1;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  style.live = style.live && !dumb;
  style.colours = style.live && (no_colour == nullptr || *no_colour == '\0');
  winsize size{};
  if (style.live && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = size.ws_col;
  }
  return style;
}

std::string TerminalSummary::coloured(std::string_view text, std::string_view code) const {
  if (!style_.colours) return std::string(text);
  return "\x1b[" + std::string(code) + 'm' + std::string(text) + "\x1b[0m";
}

void TerminalSummary::begin(std::string_view target, std::size_t cases) {
  cases_ = cases;
  began_ = Clock::now();
  say(cases_text(cases) + " against " + clean(target));
  out_ << std::flush;
}

// A line that stays.
void TerminalSummary::say(std::string_view line, std::size_t indent) {
  clear_progress();
  out_ << (style_.live ? broken(line, style_.width, indent) : std::string(line)) << '\n';
}

void TerminalSummary::running(const Case& test) { show_progress(test.id); }

void TerminalSummary::clear_progress() {
  if (progress_shown_) out_ << "\r\x1b[K";
  progress_shown_ = false;
}

// The widths count octets where they should count columns: the line holds ASCII.
void TerminalSummary::show_progress(std::string_view current) {
  constexpr std::size_t kEcho = 3;  // of a Ctrl-C, and the cursor
  if (!style_.live) return;
  clear_progress();
  std::string line = '[' + std::to_string(total_.all) + '/' + std::to_string(cases_) + ']';
  for (const Column& column : kColumns) {
    const std::size_t count = count_in(total_.counts, column.verdict);
    if (count > 0) line += ' ' + std::to_string(count) + ' ' + std::string(column.heading) + ',';
  }
  if (line.back() == ',') line.pop_back();
  const std::size_t room = style_.width - std::min(style_.width, kEcho);
  if (line.size() > room) line = line.substr(0, std::min(room, line.find(' ')));
  const std::string name = clean(current);
  const std::string_view shown = shortened(name, room - std::min(room, line.size() + kGap.size()));
  if (!shown.empty()) line.append(kGap).append(shown);
  out_ << line << std::flush;
  progress_shown_ = true;
}

void TerminalSummary::count(const Result& result) {
  const std::string layer = clean(result.test.layer());
  auto row = std::find_if(layers_.begin(), layers_.end(),
                          [&](const auto& named) { return named.first == layer; });
  if (row == layers_.end()) row = layers_.insert(layers_.end(), {layer, Row{}});
  for (Row* one : {&total_, &row->second}) {
    ++one->counts[result.verdict];
    ++one->all;
  }
  if (result.verdict == Verdict::kSkip) ++reasons_[clean(result.text)];
}

void TerminalSummary::tell(const Result& result) {
  const bool fail = result.verdict == Verdict::kFail;
  if (!fail && result.verdict != Verdict::kError) return;
  const bool compared = fail && !(result.expected.empty() && result.got.empty());
  const std::string why = compared
                              ? "expected " + clean(result.expected) + "; got " + clean(result.got)
                              : clean(result.text);
  if (!fail && style_.live && why == error_) {
    ++like_it_;
    return;
  }
  tell_of_the_like();
  if (!fail) error_ = why;
  say(coloured(fail ? "FAIL " : "ERROR", kRed) + ' ' + coloured(clean(result.test.id), kBold) +
      ": " + (style_.live ? with_short_octets(why) : why));
}

// Of an agent that is gone each further case tells the same.
void TerminalSummary::tell_of_the_like() {
  if (like_it_ > 0) say(coloured("ERROR", kRed) + " the same in " + cases_text(like_it_));
  like_it_ = 0;
  error_.clear();
}

void TerminalSummary::result(const Result& result) {
  count(result);
  tell(result);
  show_progress(result.test.id);
  out_ << std::flush;
}

std::vector<std::pair<std::string, const TerminalSummary::Row*>> TerminalSummary::rows() const {
  std::vector<std::pair<std::string, const Row*>> all;
  for (const auto& [layer, row] : layers_) all.emplace_back(layer, &row);
  if (layers_.size() > 1) all.emplace_back("all", &total_);
  return all;
}

// A line for each verdict that there was, in which the layers stand side by side.
void TerminalSummary::write_narrow_table() {
  constexpr std::size_t kHeading = 10, kCell = 3;
  out_ << '\n' << std::string(kHeading, ' ');
  for (const auto& [name, row] : rows()) out_ << ' ' << right(name, kCell);
  out_ << '\n';
  for (const Column& column : kColumns) {
    if (count_in(total_.counts, column.verdict) == 0) continue;
    out_ << coloured(left(std::string(column.heading), kHeading), colour_of(column.verdict));
    for (const auto& [name, row] : rows()) {
      out_ << ' '
           << right(std::to_string(count_in(row->counts, column.verdict)),
                    std::max(name.size(), kCell));
    }
    out_ << '\n';
  }
}

void TerminalSummary::write_table() {
  std::size_t width = std::string_view("all").size();
  for (const auto& [layer, row] : layers_) width = std::max(width, layer.size());
  out_ << '\n' << std::string(width, ' ');
  for (const Column& column : kColumns) out_ << "  " << column.heading;
  out_ << '\n';
  const auto write = [&](const std::string& name, const Row& row) {
    out_ << left(name, width);
    for (const Column& column : kColumns) {
      const std::size_t count = count_in(row.counts, column.verdict);
      const std::string cell = right(std::to_string(count), column.heading.size());
      out_ << "  " << (count > 0 ? coloured(cell, colour_of(column.verdict)) : cell);
    }
    out_ << '\n';
  };
  for (const auto& [name, row] : rows()) write(name, *row);
}

void TerminalSummary::write_reasons() {
  constexpr std::size_t kCount = 5;
  if (!reasons_.empty()) out_ << "\nskipped:\n";
  std::vector<std::pair<std::string, std::size_t>> reasons(reasons_.begin(), reasons_.end());
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [reason, count] : reasons) {
    say(right(std::to_string(count), kCount) + std::string(kGap) + reason, kCount + kGap.size());
  }
}

void TerminalSummary::end() {
  constexpr std::size_t kNarrow = 60;
  tell_of_the_like();
  clear_progress();
  style_.width < kNarrow ? write_narrow_table() : write_table();
  write_reasons();
  const std::size_t departures = count_in(total_.counts, Verdict::kDeparture);
  const std::size_t bad =
      count_in(total_.counts, Verdict::kFail) + count_in(total_.counts, Verdict::kError);
  out_ << '\n';
  if (departures > 0) {
    say(cases_text(departures) + (departures == 1 ? " fails" : " fail") +
        " as the table of departures says");
  }
  const std::string time = " in " + seconds(Clock::now() - began_) + " s";
  const bool whole = total_.all == cases_;
  if (!whole) say(cases_text(cases_ - total_.all) + " did not run");
  if (bad > 0) {
    say(coloured(cases_text(bad) + " did not pass", kRed) + time);
  } else {
    say(whole ? coloured("nothing failed", kGreen) + time : "nothing failed of what ran" + time);
  }
  out_ << std::flush;
}

}  // namespace iwarp::conform
