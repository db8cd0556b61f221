#pragma once

#include <string>
#include <vector>

#include "file_service/client/client.hpp"
#include "file_service/wire/listing_format.hpp"

namespace iwarp::cli::file_service {

/// The names on the server that start with `prefix`, up to the next '/', sorted.
std::vector<ListEntry> list_remote(Client& client, const std::string& prefix,
                                   const std::string& url);

}  // namespace iwarp::cli::file_service
