#include "commands/run_command_line.hpp"
#include "context.hpp"
#include "program.hpp"

namespace {

using namespace iwarp::cli;

int run(int argc, char** argv) {
  // What belongs to the program of `iwarp run` is not parsed: it may look like anything.
  RunCommandLine line = split_run_command_line({argv, static_cast<std::size_t>(argc)});
  Context context;
  context.program = std::move(line.program);
  const auto app = make_app(context);
  try {
    // The chosen subcommand runs in here.
    app->parse(static_cast<int>(line.own), argv);
  } catch (const CLI::Success& wish) {
    return app->exit(wish);
  } catch (const CLI::ParseError& error) {
    print_error(std::string(error.what()) + " (iwarp --help explains)");
    return static_cast<int>(ExitStatus::kUsage);
  }
  return context.exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const CommandError& error) {
    print_failure(error);
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    print_failure(error);
    return static_cast<int>(ExitStatus::kFailed);
  }
}
