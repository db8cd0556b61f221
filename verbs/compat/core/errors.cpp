#include "core/errors.hpp"

namespace iwarp::compat {

int errno_of(const std::error_code& code) {
  const std::error_condition condition = code.default_error_condition();
  if (condition.category() == std::generic_category() && condition.value() != 0) {
    return condition.value();
  }
  return EIO;
}

}  // namespace iwarp::compat
