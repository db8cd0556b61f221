#include "json_output.hpp"

#include <iostream>

namespace iwarp::cli {

void print_json(const nlohmann::json& value) {
  std::cout << value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
}

}  // namespace iwarp::cli
