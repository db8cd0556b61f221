#include "iwarp/process/secret.hpp"

#include <array>
#include <bit>
#include <cerrno>

namespace iwarp::process {

Result<std::uint64_t, std::error_code> secret(RandomSource source) {
  std::array<std::byte, sizeof(std::uint64_t)> octets{};
  for (std::size_t filled = 0; filled < octets.size();) {
    const ssize_t got = source(octets.data() + filled, octets.size() - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(std::error_code(errno, std::system_category()));
    // Nothing at all is no answer of getrandom's. A loop would hang on it.
    if (got == 0) return failure(std::make_error_code(std::errc::io_error));
    filled += static_cast<std::size_t>(got);
  }
  return std::bit_cast<std::uint64_t>(octets);
}

}  // namespace iwarp::process
