#include "man/option_item.hpp"

#include <spdlog/fmt/fmt.h>

#include <regex>

#include "man/roff.hpp"

namespace iwarp::cli::man {
namespace {

/// The value of an option: what it is called, and a sentence about what it may be.
struct Value {
  std::string name, limits;
};

/// "One of sha256, none." unless the description says so already.
std::string one_of(const std::string& choices, const std::string& description) {
  static const std::regex choice("[^,]+");
  std::string list;
  bool all_named = true;
  for (std::sregex_iterator i(choices.begin(), choices.end(), choice), end; i != end; ++i) {
    all_named = all_named && description.find(i->str()) != std::string::npos;
    list += (list.empty() ? "" : ", ") + i->str();
  }
  return all_named ? "" : "One of " + list + ".";
}

/// CLI11 puts checks behind the name: "TEXT:{sha256,none}", "UINT:INT in [1 - 10000]".
Value value_of(const CLI::Option& option) {
  static const std::regex choices(R"((.*?):\{(.*)\})"), range(R"((.*?):\w+ in \[(.+) - (.+)\])");
  if (!option.get_option_text().empty()) return {option.get_option_text(), {}};
  if (option.get_type_size() == 0) return {};  // a flag
  const std::string type = option.get_type_name();
  std::smatch part;
  if (std::regex_match(type, part, choices)) {
    return {part[1], one_of(part[2].str(), option.get_description())};
  }
  if (std::regex_match(type, part, range)) {
    return {part[1], fmt::format("From {} to {}.", part[2].str(), part[3].str())};
  }
  return {type, {}};
}

}  // namespace

std::string as_sentence(std::string text) {
  if (!text.empty() && !text.ends_with('.')) text += '.';
  return text;
}

std::string option_tag(const CLI::Option& option) {
  if (option.get_positional()) return italic(option.get_name(true, false));
  static const std::regex name(R"([^,]+)");
  const std::string names = option.get_name(false, true);
  std::string roff;
  for (std::sregex_iterator i(names.begin(), names.end(), name), end; i != end; ++i) {
    roff += (roff.empty() ? "" : ", ") + bold(i->str());
  }
  const std::string value = value_of(option).name;
  return value.empty() ? roff : roff + " " + italic(value);
}

std::string option_text(const CLI::Option& option) {
  std::string text = as_sentence(option.get_description());
  const std::string limits = value_of(option).limits;
  if (!limits.empty()) text += " " + limits;
  if (!option.get_default_str().empty()) text += " Default: " + option.get_default_str() + ".";
  return prose(text);
}

}  // namespace iwarp::cli::man
