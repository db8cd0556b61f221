#include "parse.hpp"

#include "commands/run_command_line.hpp"
#include "context.hpp"
#include "help/mistakes.hpp"
#include "program.hpp"
#include "standard_output.hpp"

namespace iwarp::cli {
namespace {

/// A wrong command line, told with the --help that explains.
int tell_mistake(const std::string& sentence) {
  print_error(sentence);
  return static_cast<int>(ExitStatus::kUsage);
}

int parse(CLI::App& app, int argc, const char* const* argv) {
  try {
    // The chosen subcommand runs in here.
    app.parse(argc, argv);
  } catch (const CLI::Success& wish) {
    return app.exit(wish);
  } catch (const CLI::ParseError& error) {
    return tell_mistake(mistake_in(app, error));
  } catch (const CommandError& error) {
    if (error.status() != ExitStatus::kUsage) throw;
    return tell_mistake(explained(app, error.what()));
  }
  return 0;
}

}  // namespace

int parse_and_run(int argc, char** argv) {
  // What belongs to the program of `iwarp run` is not parsed: it may look like anything.
  RunCommandLine line = split_run_command_line({argv, static_cast<std::size_t>(argc)});
  Context context;
  context.program = std::move(line.program);
  const auto app = make_app(context);
  const int status = parse(*app, static_cast<int>(line.own), argv);
  require_standard_output();
  return status != 0 ? status : context.exit_status;
}

}  // namespace iwarp::cli
