#include "agent/command.hpp"

#include <algorithm>
#include <boost/algorithm/hex.hpp>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>

namespace iwarp::agent {
namespace {

constexpr std::size_t kShown = 60;  // of a word that is wrong

// What the tester has sent, fit for a line.
std::string in_quotes(std::string_view text) {
  return '\'' + std::string(text.substr(0, kShown)) + (text.size() > kShown ? "...'" : "'");
}

// Cuts off what stands before the first space.
std::string_view next_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  return word;
}

std::optional<std::uint64_t> parse_number(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::string hex_text(std::uint64_t value, std::size_t digits) {
  std::string text(2 + digits, '0');
  text[1] = 'x';
  for (std::size_t i = text.size(); i > 2; value >>= 4U)
    text[--i] = "0123456789abcdef"[value & 15U];
  return text;
}

}  // namespace

CommandError refused(std::errc code, const std::string& sentence) {
  return {std::make_error_code(code), sentence};
}
CommandError invalid(const std::string& sentence) {
  return refused(std::errc::invalid_argument, sentence);
}

std::string error_line(std::error_code code, std::string_view text) {
  const bool is_errno =
      code.category() == std::generic_category() || code.category() == std::system_category();
  const char* name = is_errno ? ::strerrorname_np(code.value()) : nullptr;
  std::string line = std::string("error ") + (name != nullptr ? name : "EIO") + ' ';
  for (const char c : text) line += c >= ' ' && c <= '~' ? c : '?';
  return line;
}

Command::Command(std::string_view line) {
  if (!std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; })) {
    throw invalid("the line is not printable ASCII");
  }
  std::string_view rest = line;
  word_ = next_word(rest);
  if (word_.empty()) throw invalid("the line does not begin with a command");
  if (line.ends_with(' ')) throw invalid("the line ends with a space");
  while (!rest.empty()) {
    const std::string_view pair = next_word(rest);
    const std::size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      throw invalid(in_quotes(pair) + " is not name=value");
    }
    if (!pairs_.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second) {
      throw invalid("the pair " + in_quotes(pair.substr(0, equals)) + " is there twice");
    }
  }
}

void Command::check(std::string_view required, std::string_view optional) const {
  for (std::string_view rest = required; !rest.empty();) {
    const std::string_view name = next_word(rest);
    if (!has(name)) throw invalid(word_ + " lacks the pair " + std::string(name));
  }
  for (const auto& [name, value] : pairs_) {
    using agent_protocol::is_among;
    if (!is_among(name, required) && !is_among(name, optional)) {
      throw invalid(word_ + " has no pair " + in_quotes(name));
    }
  }
}

const std::string& Command::text(std::string_view name) const {
  const auto found = pairs_.find(name);
  if (found == pairs_.end()) throw invalid(word_ + " lacks the pair " + std::string(name));
  return found->second;
}

std::uint64_t Command::number(std::string_view name, std::uint64_t most) const {
  const auto value = parse_number(text(name), 10);
  if (!value || *value > most) {
    throw invalid(std::string(name) + '=' + in_quotes(text(name)) + " is no decimal number up to " +
                  std::to_string(most));
  }
  return *value;
}

std::uint64_t Command::hex(std::string_view name, std::uint64_t most) const {
  std::string_view digits = text(name);
  const bool prefixed = digits.starts_with("0x");
  if (prefixed) digits.remove_prefix(2);
  const auto value = parse_number(digits, 16);
  if (!prefixed || !value || *value > most) {
    throw invalid(std::string(name) + '=' + in_quotes(text(name)) +
                  " is no hexadecimal number with 0x up to " + hex_text(most, 8));
  }
  return *value;
}

std::vector<std::byte> Command::octets(std::string_view name) const {
  const std::string& digits = text(name);
  if (digits == "-") return {};
  std::vector<std::byte> octets(digits.size() / 2);
  try {
    if (digits.empty()) throw boost::algorithm::not_enough_input();
    boost::algorithm::unhex(digits, reinterpret_cast<unsigned char*>(octets.data()));
  } catch (const boost::algorithm::hex_decode_error&) {
    throw invalid(std::string(name) + '=' + in_quotes(digits) + " are no octets");
  }
  return octets;
}

std::chrono::milliseconds Command::wait() const {
  return std::chrono::milliseconds(number("ms", agent_protocol::kLongestWait));
}

Reply& Reply::text(std::string_view name, std::string_view value) {
  line_.append(" ").append(name).append("=").append(value);
  return *this;
}
Reply& Reply::number(std::string_view name, std::uint64_t value) {
  return text(name, std::to_string(value));
}
Reply& Reply::stag(std::string_view name, Stag value) {
  return text(name, hex_text(value.value(), 8));
}
Reply& Reply::address(std::string_view name, std::uint64_t value) {
  return text(name, hex_text(value, 16));
}
Reply& Reply::octets(std::string_view name, ConstBytes value) {
  if (value.empty()) return text(name, "-");
  const auto* const octets = reinterpret_cast<const unsigned char*>(value.data());
  std::string digits;
  digits.reserve(2 * value.size());
  boost::algorithm::hex_lower(octets, octets + value.size(), std::back_inserter(digits));
  return text(name, digits);
}

}  // namespace iwarp::agent
