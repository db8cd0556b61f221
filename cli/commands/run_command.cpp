#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "commands.hpp"
#include "commands/run_environment.hpp"
#include "commands/run_program_file.hpp"
#include "help/checks.hpp"
#include "help/formatter.hpp"
#include "options.hpp"

namespace iwarp::cli {
namespace {

using Linkage = ProgramFile::Linkage;

struct RunFlags {
  std::string device, device_as, interfaces;
  std::uint32_t max_fpdu = 0;
  bool stats = false;
  bool timewait_exit = false;
};

/// Said before the program starts, which then runs as it would without us.
void warn(const std::string& program, const std::string& why) {
  print_error(fmt::format("{} {}", program, why));
}

void warn_if_out_of_reach(const std::string& program, const ProgramFile& file) {
  if (file.linkage == Linkage::kStatic) {
    warn(program, "is linked statically: it loads no libraries, so iwarp cannot serve it");
  } else if (file.linkage == Linkage::kForeign) {
    warn(program, "is for another architecture than these libraries, so iwarp cannot serve it");
  } else if (file.gains_rights) {
    warn(program,
         "gains rights when it starts (setuid, setgid or capabilities), for which the system "
         "ignores LD_LIBRARY_PATH, so iwarp cannot serve it");
  }
}

/// Programs may change their working directory before they open a device.
void make_capture_absolute() {
  if (const char* const directory = std::getenv("IWARP_CAPTURE"); directory != nullptr) {
    ::setenv("IWARP_CAPTURE", std::filesystem::absolute(directory).c_str(), 1);
  }
}

void set_environment(const RunFlags& flags, const std::string& program) {
  const std::string directory = library_directory();
  prepend_library_path(directory);
  if (!flags.device_as.empty()) ::setenv("IWARP_DEVICE_AS", flags.device_as.c_str(), 1);
  if (!flags.interfaces.empty()) ::setenv("IWARP_INTERFACES", flags.interfaces.c_str(), 1);
  if (flags.max_fpdu != 0) {
    ::setenv("IWARP_MAX_FPDU", std::to_string(flags.max_fpdu).c_str(), 1);
  }
  if (flags.timewait_exit) ::setenv("IWARP_TIMEWAIT_EXIT", "1", 1);
  if (flags.stats) ::setenv("IWARP_STATS", "1", 1);
  make_capture_absolute();
  if (const auto path = find_program(program)) {
    const ProgramFile file = inspect_program(*path);
    warn_if_out_of_reach(program, file);
    if (file.searches_rpath_first) preload_libraries(directory);
  }
}

/// Comes back only as a CommandError.
[[noreturn]] void execute(std::vector<std::string> program) {
  std::vector<char*> arguments(program.size());
  std::transform(program.begin(), program.end(), arguments.begin(),
                 [](std::string& argument) { return argument.data(); });
  arguments.push_back(nullptr);
  std::cout.flush();
  ::execvp(arguments.front(), arguments.data());
  const int reason = errno;
  throw CommandError(
      fmt::format("cannot run {}: {}", program.front(), std::generic_category().message(reason)),
      reason == ENOENT ? ExitStatus::kNotFound : ExitStatus::kCannotExecute);
}

/// What the program gets is the software stack; what else was asked for is not passed over in
/// silence. `source` says where that was.
void require_software(const std::string& device, const std::string& source) {
  if (device.empty() || device == "soft") return;
  const std::string asked = fmt::format("{} asks for '{}'", source, device);
  if (device.starts_with("soft:")) {
    throw usage_error(asked +
                      ", and `iwarp run` cannot confine sockets to an interface: "
                      "--interfaces chooses which ones are devices");
  }
  throw usage_error(asked +
                    ", and `iwarp run` has the software stack alone (soft): an adapter is "
                    "reached by the program's own libibverbs and librdmacm, without "
                    "`iwarp run`");
}

void check_device(const RunFlags& flags) {
  if (!flags.device.empty()) {
    require_software(flags.device, "--device");
    // What the program starts may ask for it, too.
    ::setenv("IWARP_DEVICE", flags.device.c_str(), 1);
  } else if (const char* const said = std::getenv("IWARP_DEVICE"); said != nullptr) {
    require_software(said, "IWARP_DEVICE");
  }
}

void run_run(const RunFlags& flags, const Context& context) {
  if (context.program.empty()) throw usage_error("run needs a program");
  check_device(flags);
  set_environment(flags, context.program.front());
  execute(context.program);
}

/// CLI11 does not see the program, so it cannot say where it stands.
class RunFormatter : public HelpFormatter {
  std::string make_usage(const CLI::App* /*app*/, std::string name) const override {
    return fmt::format("Usage: {} [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n", name);
  }
};

constexpr const char* kRunFooter =
    "PROGRAM is any program that uses libibverbs or librdmacm: rping, perftest, fio, your own. It\n"
    "runs as it is; it only finds the two libraries of this project before those of the system.\n"
    "Through them each network interface, loopback included, is an RDMA device (iwarp0, "
    "iwarp1...),\n"
    "and what the program sends is iWARP over TCP. No adapter, no kernel module, no root.\n"
    "What stands behind PROGRAM is passed on to it; -- may stand before it.\n\n"
    "The other end may be another program under `iwarp run`, an iWARP adapter or Linux siw.\n"
    "Programs that exchange queue pair numbers themselves, without the connection manager, "
    "connect\n"
    "only to others under `iwarp run`.\n\n"
    "A program that takes the first device takes the one it needs with --interfaces eth0.\n\n"
    "--device-as iwarp is the truth and the default. Some programs refuse iWARP devices, such as\n"
    "perftest without -R: --device-as ib tells them InfiniBand.\n\n"
    "Devices are the software stack's alone. An adapter (--device rnic:NAME of other subcommands) "
    "is\n"
    "reached by the program's own libibverbs and librdmacm: run it without `iwarp run`.\n\n"
    "Out of reach: programs that are linked statically, and setuid programs. A program that says\n"
    "itself where its libraries are (DT_RPATH) gets ours preloaded.\n\n"
    "Environment: IWARP_LIBRARY_DIR names the directory of the two libraries, if they are neither\n"
    "where this program was built nor where it was installed. The program gets LD_LIBRARY_PATH, "
    "and\n"
    "IWARP_DEVICE_AS, IWARP_INTERFACES, IWARP_TIMEWAIT_EXIT, IWARP_MAX_FPDU, IWARP_STATS and\n"
    "IWARP_CAPTURE for the options; a program that is started some other way can be given them by "
    "hand.\n\n"
    "Exit status: the program's; 126 if it cannot be executed, 127 if it is not there, 1 if the\n"
    "libraries are not, 2 for wrong usage.\n\n"
    "Examples:\n"
    "  iwarp run ibv_devinfo\n"
    "  iwarp run rping -s -a 127.0.0.1 -v &\n"
    "  iwarp run rping -c -a 127.0.0.1 -v -C 3\n"
    "  iwarp run --stats ib_write_bw -R 192.0.2.7\n"
    "  iwarp run --device-as ib ib_write_bw -x 0 192.0.2.7";

}  // namespace

void add_run_command(CLI::App& app, Context& context) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* command = app.add_subcommand("run", "Run a verbs program, as it is, on this stack");
  command->formatter(std::make_shared<RunFormatter>());
  command
      ->add_option(
          "--device", flags->device,
          "The RDMA device: soft, the stack in the program's process, is the only one here, "
          "and overrides the environment variable IWARP_DEVICE")
      ->type_name("NAME");
  command
      ->add_option("--device-as", flags->device_as,
                   "What the devices say they are: iwarp (as it is) or ib")
      ->transform(OneOf({"iwarp", "ib"}));
  command
      ->add_option("--interfaces", flags->interfaces,
                   "The network interfaces that become devices, in this order: eth0,lo; default: "
                   "all that are up and have an address, loopback first")
      ->transform(Interfaces())
      ->type_name("INTERFACE[,INTERFACE...]");
  command->add_flag("--timewait-exit", flags->timewait_exit,
                    "Tell the program TIMEWAIT_EXIT behind DISCONNECTED, as InfiniBand does");
  add_max_fpdu_option(*command, flags->max_fpdu);
  command->add_flag("--stats", flags->stats,
                    "When the program ends, say on standard error what each connection did and why "
                    "it ended");
  add_capture_option(*command);
  command->footer(kRunFooter);
  command->callback([flags, &context] { run_run(*flags, context); });
}

}  // namespace iwarp::cli
