#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "commands/run_command_line.hpp"
#include "conform/conform_command.hpp"
#include "context.hpp"
#include "perf/perf_command.hpp"

namespace {

using namespace iwarp::cli;

int run(int argc, char** argv) {
  // What belongs to the program of `iwarp run` is not parsed: it may look like anything.
  RunCommandLine line = split_run_command_line({argv, static_cast<std::size_t>(argc)});
  Context context;
  context.program = std::move(line.program);
  CLI::App app(
      "RDMA over plain TCP sockets: a user-space iWARP stack (RFC 5040, 5041, 5044, 6581).",
      "iwarp");
  app.require_subcommand(1);
  app.set_version_flag("--version", "iwarp " IWARP_VERSION);
  app.footer(
      "Each subcommand explains itself: iwarp put --help.\n"
      "Exit status: 0 done, 1 failed, 2 wrong usage.\n\n"
      "Examples:\n"
      "  iwarp serve /srv/files\n"
      "  iwarp put video.mp4 iwarp://127.0.0.1:7471/video.mp4\n"
      "  iwarp get iwarp://127.0.0.1:7471/video.mp4 copy.mp4\n"
      "  iwarp run rping -s -v");
  add_devices_command(app, context);
  add_serve_command(app, context);
  add_put_command(app, context);
  add_get_command(app, context);
  add_ls_command(app, context);
  add_perf_command(app, context);
  add_agent_command(app, context);
  add_conform_command(app, context);
  add_run_command(app, context);
  try {
    // The chosen subcommand runs in here.
    app.parse(static_cast<int>(line.own), argv);
  } catch (const CLI::Success& wish) {
    return app.exit(wish);
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
    print_error(error.what());
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    print_error(error.what());
    return static_cast<int>(ExitStatus::kFailed);
  }
}
