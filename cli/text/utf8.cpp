#include "text/utf8.hpp"

#include <algorithm>
#include <array>

namespace iwarp::cli {
namespace {

struct Span {
  char32_t first, last;
};

/// What East Asian terminals and emoji take two columns for.
constexpr std::array kWide = {Span{0x1100, 0x115F},   Span{0x231A, 0x23FF},  Span{0x25FD, 0x27BF},
                              Span{0x2B00, 0x2BFF},   Span{0x2E80, 0xA4CF},  Span{0xA960, 0xA97F},
                              Span{0xAC00, 0xD7A3},   Span{0xF900, 0xFAFF},  Span{0xFE10, 0xFE6F},
                              Span{0xFF00, 0xFF60},   Span{0xFFE0, 0xFFE6},  Span{0x16FE0, 0x18DFF},
                              Span{0x1B000, 0x1B2FF}, Span{0x1F000, 0x3FFFD}};

std::size_t width_of(char32_t code) {
  const bool wide = std::any_of(kWide.begin(), kWide.end(), [code](const Span& span) {
    return span.first <= code && code <= span.last;
  });
  return wide ? 2 : 1;
}

/// How long the sequence is that such an octet begins, and the least code point that needs it.
struct Lead {
  std::size_t octets = 0;  ///< 0: none begins so.
  char32_t least = 0;
};

Lead lead_of(unsigned char first) {
  if (first < 0x80) return {1, 0};
  if (first < 0xC0) return {};
  if (first < 0xE0) return {2, 0x80};
  if (first < 0xF0) return {3, 0x800};
  return first < 0xF8 ? Lead{4, 0x10000} : Lead{};
}

}  // namespace

Character first_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const Lead lead = lead_of(first);
  if (lead.octets == 0 || text.size() < lead.octets) return {};
  char32_t code = lead.octets == 1 ? first : first & (0x7FU >> lead.octets);
  for (const char next : text.substr(1, lead.octets - 1)) {
    const auto octet = static_cast<unsigned char>(next);
    if ((octet & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (octet & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < lead.least || surrogate || code > 0x10FFFF) return {};
  return {code, lead.octets, true};
}

bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

std::string printable(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const Character next = first_character(text);
    clean += next.valid && !is_control(next.code) ? text.substr(0, next.octets) : "?";
    text.remove_prefix(next.octets);
  }
  return clean;
}

std::size_t columns(std::string_view text) {
  std::size_t sum = 0;
  while (!text.empty()) {
    const Character next = first_character(text);
    sum += width_of(next.code);
    text.remove_prefix(next.octets);
  }
  return sum;
}

std::string_view fitting(std::string_view text, std::size_t columns) {
  std::size_t end = 0, taken = 0;
  while (end < text.size()) {
    const Character next = first_character(text.substr(end));
    taken += width_of(next.code);
    if (taken > columns) break;
    end += next.octets;
  }
  return text.substr(0, end);
}

}  // namespace iwarp::cli
