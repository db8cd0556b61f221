#include "json_output.hpp"

#include <spdlog/fmt/fmt.h>

#include <iostream>

#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

/// JSON permits more control characters in a string than a terminal should be given.
std::string escaped(std::string_view json) {
  std::string text;
  while (!json.empty()) {
    const Character next = first_character(json);
    const bool layout = next.code == '\n';  // in a string it is escaped already
    text += next.valid && is_control(next.code) && !layout
                ? fmt::format("\\u{:04x}", static_cast<unsigned>(next.code))
                : std::string(json.substr(0, next.octets));
    json.remove_prefix(next.octets);
  }
  return text;
}

}  // namespace

void print_json(const nlohmann::json& value) {
  std::cout << escaped(value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace))
            << std::endl;
}

}  // namespace iwarp::cli
