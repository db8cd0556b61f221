#pragma once

/// All of the Asio layer.
#include "iwarp/asio/acceptor.hpp"
#include "iwarp/asio/buffer.hpp"
#include "iwarp/asio/connection.hpp"
#include "iwarp/asio/connection_options.hpp"
#include "iwarp/asio/device.hpp"
#include "iwarp/asio/error.hpp"
#include "iwarp/asio/memory.hpp"
#include "iwarp/asio/memory_window.hpp"
#include "iwarp/asio/message_pool.hpp"
#include "iwarp/asio/request.hpp"
