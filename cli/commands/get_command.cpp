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

namespace fs = std::filesystem;

struct GetFlags {
  std::string url;
  std::string file;
  std::string hash = "sha256";
  ClientFlags client;
};

/// Where the file goes: into a directory under its own name; through a symbolic link to the file
/// behind it; never in place of a device or a FIFO.
fs::path target_path(const std::string& file, const std::string& name) {
  std::error_code error;
  fs::path path = file;
  if (fs::is_directory(path, error)) path /= fs::path(name).filename();
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none || status.type() == fs::file_type::unknown) {
    throw CommandError(fmt::format("{}: {}", path.string(), error.message()));
  }
  if (!fs::exists(status)) return path;
  if (!fs::is_regular_file(status)) throw CommandError(path.string() + ": not a regular file");
  const fs::path canonical = fs::canonical(path, error);
  return error ? path : canonical;
}

file_service::PendingFile open_target(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const auto fail = [&path](const std::string& why) {
    return CommandError(fmt::format("{}: {}", path.string(), why));
  };
  if (!path.has_filename()) throw fail("names a directory that does not exist");
  file_service::Fd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) throw fail(std::strerror(errno));
  auto file = file_service::PendingFile::create(std::move(directory), path.filename().string());
  if (!file) throw fail(file.error().message());
  return *std::move(file);
}

void publish(file_service::PendingFile& file, const fs::path& path) {
  auto done = file.sync();
  InterruptGuard::check();
  if (done) done = file.publish();
  if (!done) throw CommandError(fmt::format("{}: {}", path.string(), done.error().message()));
}

void run_get(const GetFlags& flags, const Context& context) {
  configure_log(context.log_level);
  const Url url = parse_url(flags.url);
  if (url.name.empty()) throw usage_error(fmt::format("'{}' names no file", flags.url));
  const fs::path path = target_path(flags.file, url.name);
  const file_service::Subject subject{url.name, flags.url, path.string()};
  const InterruptGuard guard;
  file_service::PendingFile file = open_target(path);
  verbs::Device device = open_device(context);
  file_service::Client client(device, url.server, client_options(flags.client));
  TransferBar bar(context, subject.name);
  const auto start = std::chrono::steady_clock::now();
  const file_service::TransferResult result = file_service::download(
      client, file, subject, hash_kind(flags.hash),
      [&bar](std::uint64_t done, std::uint64_t total) { bar.show(done, total); });
  publish(file, path);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  bar.erase();
  print_report(context, {"get", subject, result, took.count()}, client);
}

}  // namespace

void add_get_command(CLI::App& app, Context& context) {
  auto flags = std::make_shared<GetFlags>();
  CLI::App* command = app.add_subcommand("get", "Fetch a file from 'iwarp serve'");
  command->add_option("URL", flags->url, "iwarp://HOST[:PORT]/NAME")->required();
  command->add_option("FILE", flags->file, "Where to store it: a file, or a directory")->required();
  add_hash_option(*command, flags->hash);
  add_device_option(*command, context);
  add_client_options(*command, flags->client);
  add_quiet_option(*command, context);
  add_report_options(*command, context);
  command->footer(
      "The server writes the file into this process' memory by RDMA Write. FILE appears, in place\n"
      "of an older one, when it is whole, verified and on the disk; until then, and after any\n"
      "failure, nothing of it is there, and the older one is. A file that changes, or is "
      "replaced,\n"
      "while it is sent is a failure. The older file's permissions, access control list and, "
      "where\n"
      "that is permitted, owner and group are kept; other extended attributes go.\n\n"
      "Examples:\n"
      "  iwarp get iwarp://storage.example/video.mp4 video.mp4\n"
      "  iwarp get iwarp://10.0.0.2:7471/archive/video.mp4 .   (keeps its name)\n"
      "  iwarp get iwarp://10.0.0.2/a%20b.txt b.txt --json     (a name with a space)");
  command->callback([flags, &context] { run_get(*flags, context); });
}

}  // namespace iwarp::cli
