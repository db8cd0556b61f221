#include "help/checks.hpp"

#include <net/if.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include "format.hpp"
#include "text/near_word.hpp"

namespace iwarp::cli {
namespace {

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return {};
  return number;
}

struct Unit {
  char letter;
  unsigned shift;
};
constexpr std::array kUnits = {Unit{'G', 30}, Unit{'M', 20}, Unit{'K', 10}};

std::optional<std::uint64_t> octets_of(std::string_view text) {
  unsigned shift = 0;
  for (const Unit& unit : kUnits) {
    const char small = static_cast<char>(unit.letter - 'A' + 'a');
    if (text.empty() || (text.back() != unit.letter && text.back() != small)) continue;
    shift = unit.shift;
    text.remove_suffix(1);
    break;
  }
  const auto number = number_of<std::uint64_t>(text);
  if (!number || (*number << shift) >> shift != *number) return {};
  return *number << shift;
}

/// Of a check: takes `value` if it is permitted, and says what is otherwise.
template <typename Number>
std::string judge(std::string& value, const std::optional<Number>& number, Number least,
                  Number greatest, const std::string& permitted) {
  if (!number || !(*number >= least && *number <= greatest)) {
    return fmt::format("'{}' is not {}", value, permitted);
  }
  value = fmt::format("{}", *number);
  return {};
}

}  // namespace

OneOf::OneOf(std::vector<std::string> words)
    : CLI::Validator(fmt::format("{{{}}}", joined(words, ","))) {
  func_ = [words = std::move(words)](const std::string& value) -> std::string {
    if (std::find(words.begin(), words.end(), value) != words.end()) return {};
    return fmt::format("'{}' is not {}{}", value, alternatives(words), did_you_mean(value, words));
  };
}

void Within::between(double least, double greatest) {
  description(fmt::format("[{:g} - {:g}]", least, greatest));
  func_ = [=, permitted =
                  fmt::format("a number from {:g} to {:g}", least, greatest)](std::string& value) {
    return judge(value, number_of<double>(value), least, greatest, permitted);
  };
}

void Within::between(std::int64_t least, std::int64_t greatest) {
  description(fmt::format("[{} - {}]", least, greatest));
  func_ = [=, permitted = fmt::format("a whole number from {} to {}", least, greatest)](
              std::string& value) {
    return judge(value, number_of<std::int64_t>(value), least, greatest, permitted);
  };
}

Octets::Octets(std::uint64_t least, std::uint64_t greatest)
    : CLI::Validator(fmt::format("[{} - {}]", octets_text(least), octets_text(greatest))) {
  const std::string permitted =
      fmt::format("a number of octets from {} to {}, with K, M or G for powers of 1024",
                  octets_text(least), octets_text(greatest));
  func_ = [=](std::string& value) {
    return judge(value, octets_of(value), least, greatest, permitted);
  };
}

Directory::Directory() {
  func_ = [](const std::string& value) -> std::string {
    std::error_code error;
    const auto status = std::filesystem::status(value, error);
    if (std::filesystem::is_directory(status)) return {};
    if (std::filesystem::exists(status)) return fmt::format("'{}' is not a directory", value);
    return fmt::format("'{}': {}", value, error.message());
  };
}

Interfaces::Interfaces() {
  func_ = [](const std::string& value) -> std::string {
    std::istringstream list(value);
    bool any = false;
    for (std::string name; std::getline(list, name, ',');) {
      any = true;
      // A name that the system knows is right wherever it is up; one that it does not is a mistake.
      if (name.empty() || ::if_nametoindex(name.c_str()) == 0) {
        return fmt::format("'{}' is no network interface", name);
      }
    }
    return any ? "" : "no interface is named";
  };
}

NotEmpty::NotEmpty() {
  func_ = [](const std::string& value) -> std::string {
    return value.empty() ? "an empty name is none" : "";
  };
}

std::string octets_text(std::uint64_t octets) {
  for (const Unit& unit : kUnits) {
    if (octets != 0 && (octets >> unit.shift) << unit.shift == octets) {
      return fmt::format("{}{}", octets >> unit.shift, unit.letter);
    }
  }
  return fmt::format("{}", octets);
}

std::string alternatives(const std::vector<std::string>& words) {
  if (words.size() < 2) return joined(words, "");
  return joined(std::span(words).first(words.size() - 1), ", ") + " or " + words.back();
}

}  // namespace iwarp::cli
