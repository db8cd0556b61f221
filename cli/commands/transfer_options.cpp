#include "commands/transfer_options.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

#include "file_service/files/stream_hasher.hpp"
#include "format.hpp"
#include "help/checks.hpp"
#include "json_output.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli {

void add_client_options(CLI::App& command, ClientFlags& flags) {
  add_mpa_options(command, flags.start_up);
  add_max_fpdu_option(command, flags.max_fpdu);
  add_revision_option(command, flags.start_up);
  add_capture_option(command);
  command
      .add_option("--timeout", flags.timeout,
                  "Give up when there is no connection, or not an octet moves, to or from the "
                  "server, for so many seconds")
      ->capture_default_str()
      ->transform(Within(0.1, 86400.0))
      ->type_name("SECONDS");
}

file_service::ClientOptions client_options(const ClientFlags& flags) {
  file_service::ClientOptions options;
  options.start_up = connect_options(flags.start_up);
  options.max_fpdu = flags.max_fpdu;
  options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(flags.timeout * 1000));
  options.start_up.timeout = options.timeout;
  return options;
}

void add_hash_option(CLI::App& command, std::string& hash) {
  command
      .add_option("--hash", hash,
                  "Digest that both ends compute and compare: sha256, or none for speed")
      ->capture_default_str()
      ->transform(OneOf({"sha256", "none"}));
}

file_service::HashKind hash_kind(const std::string& hash) {
  return hash == "none" ? file_service::HashKind::kNone : file_service::HashKind::kSha256;
}

void print_report(const Context& context, const TransferReport& report,
                  const file_service::Client& client) {
  const double rate = static_cast<double>(report.result.bytes) / report.seconds;
  const auto& digest = report.result.sha256;
  if (context.output == Output::kJson) {
    const verbs::ConnectionInfo& info = client.info();
    nlohmann::json sha256;
    if (digest) sha256 = file_service::to_hex(*digest);
    print_json({{"operation", report.operation},
                {"name", report.subject.name},
                {"server", client.server()},
                {"file", report.subject.local},
                {"bytes", report.result.bytes},
                {"seconds", report.seconds},
                {"bytes_per_second", rate},
                {"sha256", sha256},
                {"crc", info.crc},
                {"mpa_revision", info.mpa_revision},
                {"markers_sent", info.markers_sent},
                {"markers_received", info.markers_received}});
    return;
  }
  std::cout << fmt::format("{} {}: {} bytes ({}) in {}, {}\n", report.operation,
                           printable(report.subject.name), report.result.bytes,
                           human_size(report.result.bytes), human_duration(report.seconds),
                           human_rate(rate));
  if (digest) std::cout << "sha256 " << file_service::to_hex(*digest) << "\n";
}

}  // namespace iwarp::cli
