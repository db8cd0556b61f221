#pragma once

#include "iwarp/tcp_offload/log.hpp"

namespace iwarp::verbs {

/// Where the library writes why a connection ended, and what else nobody was there to be told.
using tcp_offload::set_logger;

}  // namespace iwarp::verbs
