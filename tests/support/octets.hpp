#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace iwarp::test {

inline std::vector<std::byte> octets(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

}  // namespace iwarp::test
