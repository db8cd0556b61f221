#include "program.hpp"

#include "commands.hpp"
#include "completion/complete_command.hpp"
#include "help/formatter.hpp"
#include "value_sources.hpp"

namespace iwarp::cli {

std::unique_ptr<CLI::App> make_app(Context& context) {
  auto app = std::make_unique<CLI::App>(
      "RDMA over plain TCP sockets: a user-space iWARP stack (RFC 5040, 5041, 5044, 6581).",
      "iwarp");
  app->formatter(std::make_shared<HelpFormatter>());
  app->require_subcommand(1);
  app->set_version_flag("--version", "iwarp " IWARP_VERSION);
  app->footer(
      "Each subcommand explains itself: iwarp put --help, or iwarp help put.\n\n"
      "Exit status: 0 done, 1 failed, 2 wrong usage.\n\n"
      "Examples:\n"
      "  iwarp serve /srv/files\n"
      "  iwarp put video.mp4 iwarp://127.0.0.1:7471/video.mp4\n"
      "  iwarp get iwarp://127.0.0.1:7471/video.mp4 copy.mp4\n"
      "  iwarp run rping -s -v");
  add_devices_command(*app, context);
  add_serve_command(*app, context);
  add_put_command(*app, context);
  add_get_command(*app, context);
  add_ls_command(*app, context);
  add_perf_command(*app, context);
  add_agent_command(*app, context);
  add_conform_command(*app, context);
  add_run_command(*app, context);
  add_help_command(*app);
  add_complete_command(*app, value_sources());
  return app;
}

}  // namespace iwarp::cli
