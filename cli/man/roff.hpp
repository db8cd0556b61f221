#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Manual pages in roff with the macros of man(7).
namespace iwarp::cli::man {

/// What is typed or printed as it stands (options, paths, commands): hyphens stay those of ASCII,
/// quotes straight.
std::string literal(std::string_view text);

/// Running text: `quoted` parts and options (--such) are bold literals, a hyphen in a word is one.
std::string prose(std::string_view text);

std::string bold(std::string_view text);    ///< A literal.
std::string italic(std::string_view text);  ///< A literal.

/// A page that grows from top to bottom. Arguments named `roff` are made by the functions above.
class Page {
 public:
  /// What stands above and below the page: its name, in capitals, and what it belongs to.
  struct Title {
    std::string name, date, source;
  };
  explicit Page(const Title& title);

  void section(std::string_view name);
  void subsection(std::string_view name);
  void paragraph(std::string_view roff);
  /// A paragraph with a hanging tag.
  void item(std::string_view tag_roff, std::string_view roff);
  /// Lines that are neither filled nor interpreted.
  void verbatim(const std::vector<std::string>& lines);
  /// A line of the page's own roff, for what the others do not cover.
  void raw(std::string_view roff);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace iwarp::cli::man
