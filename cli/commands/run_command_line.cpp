#include "commands/run_command_line.hpp"

#include <string_view>

namespace iwarp::cli {
namespace {

/// Whether the value of an option is the next argument.
bool takes_next(std::string_view option) {
  return option == "--device" || option == "--device-as" || option == "--interfaces" ||
         option == "--max-fpdu" || option == "--capture";
}

}  // namespace

RunCommandLine split_run_command_line(std::span<char* const> arguments) {
  if (arguments.size() < 2 || std::string_view(arguments[1]) != "run")
    return {arguments.size(), {}};
  std::size_t own = 2;
  std::size_t program = own;
  for (; program < arguments.size(); own = ++program) {
    const std::string_view argument = arguments[program];
    if (argument == "--") {
      ++program;  // belongs to neither
      break;
    }
    if (!argument.starts_with('-')) break;
    if (takes_next(argument) && program + 1 < arguments.size()) ++program;
  }
  const auto rest = arguments.subspan(program);
  return {own, {rest.begin(), rest.end()}};
}

}  // namespace iwarp::cli
