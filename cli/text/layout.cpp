#include "text/layout.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

/// Fills line by line what belongs together, and passes the rest on.
class ParagraphFiller {
 public:
  explicit ParagraphFiller(std::size_t width) : width_(width) {}

  void add(const std::string& line) {
    if (line.empty()) {
      end_paragraph();
      verbatim_ = false;
      text_ += text_.empty() || text_.ends_with("\n\n") ? "" : "\n";
      return;
    }
    if (words_.empty() && line.starts_with("Example")) verbatim_ = true;
    if (verbatim_ || line.starts_with(' ') || line.starts_with("Exit status:")) end_paragraph();
    if (verbatim_ || line.starts_with(' ')) {
      text_ += line + "\n";
    } else {
      words_ += line + " ";
    }
  }

  std::string take() {
    end_paragraph();
    return std::move(text_);
  }

 private:
  void end_paragraph() { text_ += filled(std::exchange(words_, {}), width_); }

  std::size_t width_;
  bool verbatim_ = false;
  std::string words_, text_;
};

}  // namespace

std::optional<std::size_t> terminal_columns(int descriptor) {
  winsize size{};
  if (::isatty(descriptor) != 1) return {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return size.ws_col;
}

std::size_t output_columns() { return terminal_columns(STDOUT_FILENO).value_or(80); }

std::string filled(std::string_view words, std::size_t width, std::string first,
                   std::size_t indent) {
  std::istringstream input{std::string(words)};
  std::string text, line = std::move(first);
  bool fresh = true;  // no word stands in the line yet
  for (std::string word; input >> word;) {
    if (!fresh && columns(line) + 1 + columns(word) > width) {
      text += line + "\n";
      line.assign(indent, ' ');
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    fresh = false;
  }
  return fresh ? text : text + line + "\n";
}

std::string broken(std::string_view sentence, std::size_t width) {
  std::string text;
  std::size_t column = 0;
  for (std::size_t begin = 0, end = 0; begin <= sentence.size(); begin = end + 1) {
    end = std::min(sentence.find(' ', begin), sentence.size());
    const std::string_view word = sentence.substr(begin, end - begin);
    const bool single = begin > 1 && sentence[begin - 2] != ' ' && !word.empty();
    const bool breaks = single && column + 1 + columns(word) > width;
    if (begin > 0) text += breaks ? '\n' : ' ';
    text += word;
    column = columns(word) + (breaks ? 0 : column + (begin > 0 ? 1 : 0));
  }
  return text + '\n';
}

std::string filled_paragraphs(const std::string& text, std::size_t width) {
  ParagraphFiller filler(width);
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) filler.add(line);
  return filler.take();
}

}  // namespace iwarp::cli
