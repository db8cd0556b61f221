#pragma once

#include <map>
#include <string>

#include "support/vectors.hpp"
#include "wire/octets.hpp"

namespace iwarp::conform::test {

/// A file of conformance/vectors, as octets of the tester.
inline std::map<std::string, Octets> load_vectors(const std::string& file) {
  std::map<std::string, Octets> all;
  const iwarp::test::Vectors vectors = iwarp::test::Vectors::load(file);
  for (const auto& [name, bytes] : vectors.all()) {
    for (const std::byte byte : bytes) all[name].push_back(std::to_integer<std::uint8_t>(byte));
  }
  return all;
}

// What the names in siw-capture.txt tell.
inline bool is_startup(const std::string& name) {
  return name.ends_with("-reply") ||
         (name.ends_with("-request") && !name.ends_with("read-request"));
}
inline bool has_crc(const std::string& name) {
  return name.find("crc") != std::string::npos || name.starts_with("padded") ||
         name.starts_with("overrun");
}

}  // namespace iwarp::conform::test
