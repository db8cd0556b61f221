#include "file_service/server/stranger_log.hpp"

#include <array>

namespace iwarp::cli::file_service {

void write_of_strangers(Told kind, process::LogLevel level, std::string_view line) {
  static std::array<process::LogLimit, static_cast<std::size_t>(Told::kFailedGet) + 1> limits;
  limits.at(static_cast<std::size_t>(kind)).log(level, line);
}

}  // namespace iwarp::cli::file_service
