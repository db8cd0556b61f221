#include "report/text.hpp"

#include <array>
#include <ctime>

#include "harness/tcp.hpp"

namespace iwarp::conform {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t size = 0;  // 0: no UTF-8
};

// The first character of `text`, which is not empty (RFC 3629 §4: no surrogates, nothing overlong).
Character first_character(std::string_view text) {
  const auto octet = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  if (octet(0) < 0x80) return {octet(0), 1};
  const std::size_t size = octet(0) >= 0xF0 ? 4 : octet(0) >= 0xE0 ? 3 : 2;
  if (octet(0) < 0xC2 || octet(0) > 0xF4 || text.size() < size) return {};
  std::uint32_t code = octet(0) & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((octet(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (octet(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[size] || code > 0x10FFFF || surrogate) return {};
  return {code, size};
}

// Controls, line separators, marks and overrides of the writing direction, non-characters.
bool acts(std::uint32_t code) {
  const auto within = [code](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  return code < 0x20 || within(0x7F, 0x9F) || code == 0x061C || within(0x200B, 0x200F) ||
         within(0x2028, 0x202E) || within(0x2060, 0x206F) || code == 0xFEFF ||
         within(0xFFF9, 0xFFFB) || (code & 0xFFFE) == 0xFFFE;
}

std::string digits(std::uint64_t value, int count) { return hex_number(value, count).substr(2); }

std::string padded(long long value, std::size_t width) {
  std::string text = std::to_string(value);
  return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

}  // namespace

std::string clean(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::size_t size = character.size == 0 ? 1 : character.size;
    if (character.size == 0) {
      out += "\\x" + digits(static_cast<std::uint8_t>(text[0]), 2);
    } else if (!acts(character.code)) {
      out += text.substr(0, size);
    } else if (character.code < 0x80) {
      out += "\\x" + digits(character.code, 2);
    } else {
      out += "\\u" + digits(character.code, character.code > 0xFFFF ? 6 : 4);
    }
    text.remove_prefix(size);
  }
  return out;
}

std::string abridged(const std::string& cleaned, std::size_t size) {
  if (cleaned.size() <= size) return cleaned;
  const auto inside_character = [&](std::size_t at) {
    return (static_cast<std::uint8_t>(cleaned[at]) & 0xC0) == 0x80;
  };
  std::size_t head = size * 3 / 4, tail = cleaned.size() - size / 8;
  while (head > 0 && inside_character(head)) --head;
  while (tail < cleaned.size() && inside_character(tail)) ++tail;
  return cleaned.substr(0, head) + " … " + std::to_string(tail - head) + " octets left out … " +
         cleaned.substr(tail);
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : clean(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string iso_time(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(time - whole);
  const std::time_t since_1970 = std::chrono::system_clock::to_time_t(whole);
  std::tm parts{};
  ::gmtime_r(&since_1970, &parts);
  return padded(parts.tm_year + 1900, 4) + '-' + padded(parts.tm_mon + 1, 2) + '-' +
         padded(parts.tm_mday, 2) + 'T' + padded(parts.tm_hour, 2) + ':' + padded(parts.tm_min, 2) +
         ':' + padded(parts.tm_sec, 2) + '.' + padded(rest.count(), 3) + 'Z';
}

std::string seconds(Clock::duration duration) {
  const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return std::to_string(count / 1000) + '.' + padded(count % 1000, 3);
}

std::int64_t microseconds(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

std::string end_text(const std::string& address, std::uint16_t port) {
  return address.empty() ? "?" : to_string(Address{address, port});
}

}  // namespace iwarp::conform
