#pragma once

#include <boost/algorithm/hex.hpp>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace iwarp::test {

using Bytes = std::vector<std::byte>;

/// The bytes that pairs of hex digits stand for; white space between bytes is ignored. Throws on
/// anything else.
inline Bytes from_hex(std::string_view text) {
  std::string digits;
  for (char c : text) {
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') digits.push_back(c);
  }
  Bytes bytes(digits.size() / 2);
  boost::algorithm::unhex(digits, reinterpret_cast<unsigned char*>(bytes.data()));
  return bytes;
}

/// Named byte strings, as files in conformance/vectors hold them: a line is "name: hex", and what
/// follows '#' is comment.
class Vectors {
 public:
  /// Reads conformance/vectors/`file`. Throws if it is missing or malformed.
  static Vectors load(const std::string& file);

  void add_line(std::string_view line) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) return;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) throw std::invalid_argument("a vector without a name");
    const std::string name(trimmed(line.substr(0, colon)));
    if (!all_.emplace(name, from_hex(line.substr(colon + 1))).second) {
      throw std::invalid_argument("two vectors of one name: " + name);
    }
  }

  /// The vector of that name; throws if there is none.
  [[nodiscard]] const Bytes& at(const std::string& name) const { return all_.at(name); }
  [[nodiscard]] const std::map<std::string, Bytes>& all() const { return all_; }

 private:
  static std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
  }

  std::map<std::string, Bytes> all_;
};

}  // namespace iwarp::test
