#include "man/roff.hpp"

#include <spdlog/fmt/fmt.h>

#include <cctype>
#include <utility>

namespace iwarp::cli::man {
namespace {

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Decodes the UTF-8 sequence at the front of `text`, which it takes away.
char32_t take_code_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0xC0 ? 1U : first < 0xE0 ? 2U : first < 0xF0 ? 3U : 4U;
  char32_t code = length == 1 ? first : first & (0x7FU >> length);
  for (std::size_t i = 1; i < length && i < text.size(); ++i) {
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  text.remove_prefix(std::min(length, text.size()));
  return code;
}

/// One character that typesetters would otherwise take for an instruction or replace.
std::string glyph(char32_t code) {
  switch (code) {
    case U'\\': return "\\e";
    case U'-': return "\\-";
    case U'\'': return "\\(aq";
    case U'`': return "\\(ga";
    case U'^': return "\\(ha";
    case U'~': return "\\(ti";
    case U'"': return "\\(dq";
    default: break;
  }
  if (code < 0x80) return {static_cast<char>(code)};
  return fmt::format("\\[u{:04X}]", static_cast<unsigned>(code));
}

/// A dot at the beginning of a line would make it a request.
std::string guarded(std::string_view roff) {
  return roff.starts_with('.') ? "\\&" + std::string(roff) : std::string(roff);
}

/// The length of the option (-q, --quiet) that begins at `at`, or 0.
std::size_t option_length(std::string_view text, std::size_t at) {
  if (text[at] != '-' || (at > 0 && (is_alphanumeric(text[at - 1]) || text[at - 1] == '-')))
    return 0;
  std::size_t end = at;
  while (end < text.size() && (is_alphanumeric(text[end]) || text[end] == '-')) ++end;
  return text.substr(at, end - at).find_first_not_of('-') == std::string_view::npos ? 0 : end - at;
}

bool is_inside_word(std::string_view text, std::size_t at) {
  return at > 0 && at + 1 < text.size() && is_alphanumeric(text[at - 1]) &&
         is_alphanumeric(text[at + 1]);
}

}  // namespace

std::string literal(std::string_view text) {
  std::string roff;
  while (!text.empty()) roff += glyph(take_code_point(text));
  return roff;
}

std::string prose(std::string_view text) {
  std::string roff, plain;
  const auto flush = [&] { roff += literal(std::exchange(plain, {})); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t quoted_end = text[i] == '`' ? text.find('`', i + 1) : std::string_view::npos;
    const std::size_t option = option_length(text, i);
    if (quoted_end != std::string_view::npos) {
      flush();
      roff += bold(text.substr(i + 1, quoted_end - i - 1));
      i = quoted_end;
    } else if (option > 0) {
      flush();
      roff += bold(text.substr(i, option));
      i += option - 1;
    } else if (text[i] == '-' && is_inside_word(text, i)) {
      flush();
      roff += '-';
    } else {
      plain += text[i];
    }
  }
  flush();
  return roff;
}

std::string bold(std::string_view text) { return "\\fB" + literal(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + literal(text) + "\\fR"; }

Page::Page(const Title& title) {
  raw(fmt::format(".TH {} 1 \"{}\" \"{}\" \"User Commands\"", literal(title.name), title.date,
                  literal(title.source)));
  // No hyphenation, and ragged on the right: names of options stay whole.
  raw(".nh\n.ad l");
}

void Page::section(std::string_view name) { raw(fmt::format(".SH {}", name)); }
void Page::subsection(std::string_view name) { raw(fmt::format(".SS {}", literal(name))); }
void Page::paragraph(std::string_view roff) { raw(".PP\n" + guarded(roff)); }

void Page::item(std::string_view tag_roff, std::string_view roff) {
  raw(".TP\n" + guarded(tag_roff) + "\n" + guarded(roff));
}

void Page::verbatim(const std::vector<std::string>& lines) {
  raw(".PP\n.RS 4\n.nf");
  for (const std::string& line : lines) raw(guarded(literal(line)));
  raw(".fi\n.RE");
}

void Page::raw(std::string_view roff) { text_.append(roff).push_back('\n'); }

}  // namespace iwarp::cli::man
