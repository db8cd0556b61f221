#include <fcntl.h>

#include <cstring>
#include <filesystem>

#include "address.hpp"
#include "commands.hpp"
#include "commands/transfer_options.hpp"
#include "device.hpp"
#include "interrupt.hpp"
#include "log.hpp"
#include "progress_bar.hpp"

namespace iwarp::cli {
namespace {

struct PutFlags {
  std::string file;
  std::string url;
  std::string hash = "sha256";
  ClientFlags client;
};

/// Opens what is to be put before a server is asked to take it.
file_service::Fd open_source(const std::string& path) {
  file_service::Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) throw CommandError(fmt::format("{}: {}", path, std::strerror(errno)));
  const auto facts = file_service::regular_file_facts(file);
  if (facts) return file;
  const bool other_kind =
      facts.error() == std::errc::is_a_directory || facts.error() == std::errc::no_such_device;
  throw CommandError(path + ": " + (other_kind ? "not a regular file" : facts.error().message()));
}

/// A URL that ends in '/' names a directory: the file keeps its own name in it.
std::string remote_name(const std::string& name, const std::string& path) {
  if (!name.empty() && name.back() != '/') return name;
  return name + std::filesystem::path(path).filename().string();
}

void run_put(const PutFlags& flags, const Context& context) {
  configure_log(context.log_level);
  const Url url = parse_url(flags.url);
  const file_service::Fd file = open_source(flags.file);
  const file_service::Subject subject{remote_name(url.name, flags.file), flags.url, flags.file};
  const InterruptGuard guard;
  verbs::Device device = open_device(context);
  file_service::Client client(device, url.server, client_options(flags.client));
  TransferBar bar(context, subject.name);
  const auto start = std::chrono::steady_clock::now();
  const file_service::TransferResult result = file_service::upload(
      client, file, subject, hash_kind(flags.hash),
      [&bar](std::uint64_t done, std::uint64_t total) { bar.show(done, total); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  bar.erase();
  print_report(context, {"put", subject, result, took.count()}, client);
}

}  // namespace

void add_put_command(CLI::App& app, Context& context) {
  auto flags = std::make_shared<PutFlags>();
  CLI::App* command = app.add_subcommand("put", "Send a file to 'iwarp serve'");
  command->add_option("FILE", flags->file, "The file to send")->required();
  command->add_option("URL", flags->url, "iwarp://HOST[:PORT]/NAME, or .../ to keep FILE's name")
      ->required();
  add_hash_option(*command, flags->hash);
  add_device_option(*command, context);
  add_client_options(*command, flags->client);
  add_quiet_option(*command, context);
  add_report_options(*command, context);
  command->footer(
      "The server reads the file out of this process' memory by RDMA Read. NAME appears on the\n"
      "server, in place of a file of that name, when the file is whole, verified and on the disk;\n"
      "until then, and after any failure, nothing of it is there, and the older file is. A FILE\n"
      "that changes while it is sent is a failure. The older file's permissions, access control\n"
      "list and, where the server may set them, owner and group are kept; other extended\n"
      "attributes go.\n\n"
      "Examples:\n"
      "  iwarp put video.mp4 iwarp://storage.example/video.mp4\n"
      "  iwarp put video.mp4 iwarp://[fd00::7]:7471/archive/      (keeps its name)\n"
      "  iwarp put big.img iwarp://10.0.0.2/big.img --hash none   (less work for the processor)");
  command->callback([flags, &context] { run_put(*flags, context); });
}

}  // namespace iwarp::cli
