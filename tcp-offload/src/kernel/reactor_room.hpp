#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>

namespace iwarp::tcp_offload::kernel {

/// Has Asio make, all together, what it keeps for each of so many descriptors that it watches at a
/// time. It keeps these states for later ones until the context ends. Made one by one, in between
/// what connections have besides, each would hold a page of memory back when they are gone: 4 MiB
/// behind a thousand strangers. Any thread. Where there is no memory or no descriptor for it there
/// is less room; nothing else depends on it.
void make_reactor_room(boost::asio::io_context& context, std::size_t descriptors);

}  // namespace iwarp::tcp_offload::kernel
