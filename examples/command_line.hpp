#pragma once

// The words behind an example's name, and what main() does with an exception.
#include <charconv>
#include <cstdint>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace examples {

/// "server PORT ...", "client HOST PORT ...", or both ends in this process: "[--self-test ...]".
struct command_line {
  bool server = false, client = false;
  std::string host = "127.0.0.1", port = "0";
  std::vector<std::string> rest;  ///< The words behind.

  [[nodiscard]] bool both() const { return server && client; }
};

inline command_line parse(const std::vector<std::string>& words) {
  const std::string role = words.empty() ? "" : words[0];
  command_line given;
  given.server = role != "client";
  given.client = role != "server";
  std::size_t own = role == "--self-test" ? 1 : 0;
  if (!given.both()) {
    own = given.server ? 2 : 3;
    if (words.size() < own) throw std::invalid_argument("at which address?");
    given.host = given.server ? "0.0.0.0" : words[1];
    given.port = words[own - 1];
  } else if (!role.empty() && !role.starts_with("--")) {
    throw std::invalid_argument("neither server nor client: " + role);
  }
  given.rest.assign(words.begin() + static_cast<std::ptrdiff_t>(own), words.end());
  return given;
}

/// A word that has to be a number.
inline std::uint64_t number_of(const std::string& word) {
  std::uint64_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [behind, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc{} || behind != end) throw std::invalid_argument("not a number: " + word);
  return number;
}

/// Runs `body` with what was given; what it throws is told, with `usage` if the words were wrong.
inline int run(int argc, char** argv, const char* usage,
               const std::function<void(const command_line&)>& body) {
  try {
    body(parse({argv + 1, argv + argc}));
    return 0;
  } catch (const std::invalid_argument& wrong) {
    std::cerr << argv[0] << ": " << wrong.what() << "\nusage: " << usage << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace examples
