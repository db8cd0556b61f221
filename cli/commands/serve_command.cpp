#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "address.hpp"
#include "commands.hpp"
#include "device.hpp"
#include "file_service/files/confinement.hpp"
#include "file_service/server/server.hpp"
#include "help/checks.hpp"
#include "interrupt.hpp"
#include "json_output.hpp"
#include "log.hpp"
#include "options.hpp"
#include "standard_output.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

struct ServeFlags {
  std::string directory;
  std::string listen = "127.0.0.1:7471";
  StartUpFlags start_up;
  std::uint32_t max_fpdu = 0;
  std::size_t max_clients = file_service::kMaxClients;
  double idle_timeout = 60;
  double timeout = 30;
  bool timeout_given = false;
};

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

file_service::ServerOptions server_options(const ServeFlags& flags) {
  file_service::ServerOptions options;
  options.start_up = connect_options(flags.start_up);
  options.max_fpdu = flags.max_fpdu;
  options.max_clients = flags.max_clients;
  options.timeouts.stall = milliseconds_of(flags.timeout);
  // Strangers get no longer than usual unless that is wished.
  if (flags.timeout_given) {
    options.start_up.timeout = options.request_timeout = options.timeouts.stall;
  }
  options.timeouts.idle = milliseconds_of(flags.idle_timeout);
  options.timeouts.first_request = std::min(options.timeouts.first_request, options.timeouts.idle);
  return options;
}

void announce(const Context& context, const std::string& directory, const std::string& address) {
  if (context.output == Output::kJson) {
    print_json({{"operation", "serve"}, {"directory", directory}, {"address", address}});
  } else {
    std::cout << fmt::format("serving {} at iwarp://{}/\n", printable(directory), address);
  }
  require_standard_output();  // a server without a known address is of no use
}

// Shells grant 1,024, which serve a quarter as many clients.
void take_descriptors_for(std::size_t clients) {
  constexpr ::rlim_t kOfClient = 4;  // its socket, two to wait with, its file
  constexpr ::rlim_t kOthers = 100;
  ::rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const ::rlim_t wanted = clients * kOfClient + kOthers;
  if (limit.rlim_max < wanted) {
    log_warning("{} clients may need {} descriptors, and the limit is {} (ulimit -n)", clients,
                wanted, limit.rlim_max);
  }
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(limit.rlim_max, wanted);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// The library keeps what is free at the end of all heaps but the first, and there would be one for
// each few of a crowd's threads. They allocate too little to be in each other's way.
void have_one_heap() { ::mallopt(M_ARENA_MAX, 1); }

// Where the stack records connections (--capture).
std::string captures() {
  const char* const directory = std::getenv("IWARP_CAPTURE");
  return directory == nullptr ? "" : directory;
}

void run_serve(const ServeFlags& flags, const Context& context) {
  configure_log(context.log_level, StackWarnings::kShown);
  const HostPort address = parse_host_port(flags.listen, PortZero::kAllowed);
  // A reader of our output that goes away, or a limit on file sizes, is an error code, not the end.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const InterruptGuard guard;
  have_one_heap();
  take_descriptors_for(flags.max_clients);
  file_service::Store store = file_service::Store::open(flags.directory);
  const verbs::Endpoint at = resolve(address).front();
  // What reads files to find an address is over; the device starts threads, which get the limits of
  // the one that starts them.
  const bool adapter = names_adapter(context);
  if (adapter) verbs::device_names();  // loads rdma-core, and the adapters' drivers
  file_service::drop_what_is_not_needed({store.root(), captures(), at.port(), adapter});
  verbs::Device device = open_device(context);
  file_service::Server server(std::move(device), std::move(store), at, server_options(flags));
  announce(context, flags.directory, to_string(server.endpoint()));
  server.run();
}

}  // namespace

void add_serve_command(CLI::App& app, Context& context) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = app.add_subcommand("serve", "Offer a directory to put, get and ls");
  command->add_option("DIR", flags->directory, "The directory; nothing outside it can be reached")
      ->required();
  command
      ->add_option("--listen", flags->listen,
                   "Where; port 0 takes a free one and says which. An IPv6 address stands in []")
      ->capture_default_str()
      ->type_name("ADDR:PORT");
  command
      ->add_option("--max-clients", flags->max_clients,
                   "Clients at once. Beyond that one that asks nothing makes room, or others are "
                   "refused")
      ->capture_default_str()
      ->transform(Within(1, 4096));
  command
      ->add_option("--idle,--idle-timeout", flags->idle_timeout,
                   "Drop a client that asks nothing for so many seconds")
      ->capture_default_str()
      ->transform(Within(0.1, 86400.0))
      ->type_name("SECONDS");
  command
      ->add_option("--timeout", flags->timeout,
                   "Drop a client when not an octet of a transfer moves for so many seconds; so "
                   "long its MPA Request may take to come, too (10 if this is not given)")
      ->capture_default_str()
      ->transform(Within(0.1, 86400.0))
      ->type_name("SECONDS");
  add_device_option(*command, context);
  add_mpa_options(*command, flags->start_up);
  add_max_fpdu_option(*command, flags->max_fpdu);
  add_capture_option(*command);
  add_report_options(*command, context);
  command->footer(
      "Prints one line with the address when it is ready, and serves until SIGINT or SIGTERM,\n"
      "which end it with status 0: it takes no more clients, what it has answered still arrives,\n"
      "a file whose octets have all moved is finished, and other transfers fail with 'the server\n"
      "ended'. For a client of which nothing moves it waits --timeout seconds. The same signal\n"
      "once more ends it at once.\n\n"
      "Every peer that can connect can read and replace every file in DIR: listen on addresses\n"
      "of networks that you trust. --log-level info shows each transfer. The process gives up\n"
      "what it does not need: it opens no file outside DIR, connects to no peer, and executes\n"
      "nothing with more rights; where the kernel has no Landlock, a line of the log says so.\n\n"
      "Examples:\n"
      "  iwarp serve /srv/files\n"
      "  iwarp serve /srv/files --listen 10.0.0.2:7471 --log-level info\n"
      "  iwarp serve . --listen [::1]:0 --json");
  command->callback([flags, &context, command] {
    flags->timeout_given = command->count("--timeout") > 0;
    run_serve(*flags, context);
  });
}

}  // namespace iwarp::cli
