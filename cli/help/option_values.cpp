#include "help/option_values.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "format.hpp"

namespace iwarp::cli {
namespace {

/// What CLI11 calls values of which the option itself does not say what they are.
std::string value_name(const std::string& type, bool among_words) {
  if (among_words && (type == "TEXT" || type == "INT")) return "WORD";
  return type == "INT" || type == "UINT" || type == "FLOAT" ? "N" : type;
}

bool says_all(const std::string& description, const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(), [&description](const std::string& word) {
    return description.find(word) != std::string::npos;
  });
}

// CLI11 puts what the checks say behind the name: "TEXT:{sha256,none}", "N:[1 - 64K]".
constexpr std::string_view kTo = " - ";

std::optional<std::string> enclosed(const std::string& type, std::string_view open,
                                    std::string_view close) {
  const std::size_t at = type.find(open);
  if (at == std::string::npos || !type.ends_with(close)) return std::nullopt;
  const std::size_t begin = at + open.size();
  return type.substr(begin, type.size() - close.size() - begin);
}

}  // namespace

OptionValues values_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};  // a flag
  const std::string type = option.get_type_name();
  OptionValues values;
  if (const auto words = enclosed(type, ":{", "}")) {
    values.words = CLI::detail::split(*words, ',');
    values.name = value_name(type.substr(0, type.find(":{")), true);
  } else if (const auto range = enclosed(type, ":[", "]");
             range && range->find(kTo) != range->npos) {
    values.least = range->substr(0, range->find(kTo));
    values.greatest = range->substr(range->find(kTo) + kTo.size());
    values.name = value_name(type.substr(0, type.find(":[")), false);
  } else {
    values.name = value_name(type, false);
  }
  if (!option.get_option_text().empty()) values.name = option.get_option_text();
  if (option.get_positional()) values.name = option.get_name(true, false);
  return values;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true, false)};
  return CLI::detail::split(option.get_name(false, true), ',');
}

std::string explanation_of(const CLI::Option& option) {
  std::string text = as_sentence(option.get_description());
  const OptionValues values = values_of(option);
  if (!values.words.empty() && !says_all(option.get_description(), values.words)) {
    text += fmt::format(" One of {}.", joined(values.words, ", "));
  }
  if (!values.least.empty()) text += fmt::format(" From {} to {}.", values.least, values.greatest);
  if (!option.get_default_str().empty()) text += " Default: " + option.get_default_str() + ".";
  return text;
}

std::string as_sentence(std::string text) {
  if (!text.empty() && !text.ends_with('.')) text += '.';
  return text;
}

}  // namespace iwarp::cli
