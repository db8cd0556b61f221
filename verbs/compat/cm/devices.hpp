#pragma once

#include <infiniband/verbs.h>

#include <boost/asio/ip/address.hpp>

namespace iwarp::compat {

/// What the connection manager binds ids to: each device is opened once and stays open, with a
/// protection domain for programs that bring none.
struct CmDevice {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
};

/// The device that has a local address; none if no interface has it. Throws std::bad_alloc.
CmDevice device_with(const boost::asio::ip::address& address);

}  // namespace iwarp::compat
