#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "context.hpp"
#include "file_service/client/transfer.hpp"
#include "options.hpp"

/// What put, get and ls have in common.
namespace iwarp::cli {

/// The options of a client of `iwarp serve`.
struct ClientFlags {
  StartUpFlags start_up;
  std::uint32_t max_fpdu = 0;
  double timeout = 30;
};
void add_client_options(CLI::App& command, ClientFlags& flags);
file_service::ClientOptions client_options(const ClientFlags& flags);

/// --hash sha256|none.
void add_hash_option(CLI::App& command, std::string& hash);
file_service::HashKind hash_kind(const std::string& hash);

/// Prints what a transfer came to, as the context wants it.
struct TransferReport {
  std::string operation;  ///< "put" or "get".
  file_service::Subject subject;
  file_service::TransferResult result;
  double seconds = 0;
};
void print_report(const Context& context, const TransferReport& report,
                  const file_service::Client& client);

}  // namespace iwarp::cli
