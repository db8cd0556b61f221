#include "iwarp/provider/failure.hpp"

#include <new>

#include "iwarp/process/log.hpp"

namespace iwarp::verbs {

std::error_code code_of(const std::exception& thrown) noexcept {
  if (const auto* by_system = dynamic_cast<const std::system_error*>(&thrown)) {
    return by_system->code();
  }
  const bool memory = dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr;
  return std::make_error_code(memory ? std::errc::not_enough_memory : std::errc::io_error);
}

Error error_of(const std::exception& thrown, const std::string& what_failed) {
  const std::error_code code = code_of(thrown);
  const bool memory = code == std::errc::not_enough_memory;
  return {code, what_failed + ": " + (memory ? "there is not enough memory" : thrown.what())};
}

void log_failure(const char* what_failed, const std::exception& thrown) noexcept {
  static process::LogLimit limit;
  try {
    limit.log(process::LogLevel::kWarn, error_of(thrown, what_failed).message);
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace iwarp::verbs
