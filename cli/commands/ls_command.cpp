#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "address.hpp"
#include "commands.hpp"
#include "commands/transfer_options.hpp"
#include "device.hpp"
#include "file_service/client/remote_listing.hpp"
#include "format.hpp"
#include "interrupt.hpp"
#include "json_output.hpp"
#include "log.hpp"
#include "text/layout.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

using file_service::ListEntry;

struct LsFlags {
  std::string url;
  ClientFlags client;
};

const char* kind_name(ListEntry::Kind kind) {
  return kind == ListEntry::Kind::kDirectory ? "directory" : "file";
}

std::string local_time(std::int64_t seconds, const char* format) {
  const std::time_t time = seconds;
  std::tm broken{};
  if (::localtime_r(&time, &broken) == nullptr) return "?";
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &broken)};
}

std::string row(const ListEntry& entry) {
  const bool directory = entry.kind == ListEntry::Kind::kDirectory;
  return fmt::format("{:>14}  {}  {}{}\n", directory ? "-" : std::to_string(entry.size),
                     local_time(entry.modified, "%Y-%m-%d %H:%M:%S"), printable(entry.name),
                     directory ? "/" : "");
}

/// For a terminal on which the other one would leave the names no room.
std::string narrow_row(const ListEntry& entry) {
  const bool directory = entry.kind == ListEntry::Kind::kDirectory;
  return fmt::format("{:>7} {} {}{}\n", directory ? "-" : human_size(entry.size),
                     local_time(entry.modified, "%Y-%m-%d"), printable(entry.name),
                     directory ? "/" : "");
}

void print_table(const std::vector<ListEntry>& entries) {
  constexpr std::size_t kNarrowTable = 60;
  const bool narrow = output_columns() < kNarrowTable;
  for (const ListEntry& entry : entries) std::cout << (narrow ? narrow_row(entry) : row(entry));
}

void print_entries_json(const std::string& server, const std::vector<ListEntry>& entries) {
  nlohmann::json list = nlohmann::json::array();
  for (const ListEntry& entry : entries) {
    list.push_back({{"name", entry.name},
                    {"kind", kind_name(entry.kind)},
                    {"size", entry.size},
                    {"modified", entry.modified}});
  }
  print_json({{"operation", "ls"}, {"server", server}, {"entries", list}});
}

void run_ls(const LsFlags& flags, const Context& context) {
  configure_log(context.log_level);
  const Url url = parse_url(flags.url);
  const InterruptGuard guard;
  verbs::Device device = open_device(context);
  file_service::Client client(device, url.server, client_options(flags.client));
  const auto entries = file_service::list_remote(client, url.name, flags.url);
  if (context.output == Output::kJson) return print_entries_json(client.server(), entries);
  print_table(entries);
}

}  // namespace

void add_ls_command(CLI::App& app, Context& context) {
  auto flags = std::make_shared<LsFlags>();
  CLI::App* command = app.add_subcommand("ls", "List what 'iwarp serve' offers");
  command->add_option("URL", flags->url, "iwarp://HOST[:PORT]/[PREFIX]")->required();
  add_device_option(*command, context);
  add_client_options(*command, flags->client);
  add_report_options(*command, context);
  command->footer(
      "Prints size, time of last change and name of every file and directory whose name starts\n"
      "with PREFIX, up to the next '/'. A PREFIX that ends in '/' lists that directory.\n\n"
      "Examples:\n"
      "  iwarp ls iwarp://storage.example/\n"
      "  iwarp ls iwarp://storage.example/archive/\n"
      "  iwarp ls iwarp://storage.example/archive/2024- --json");
  command->callback([flags, &context] { run_ls(*flags, context); });
}

}  // namespace iwarp::cli
