#pragma once

#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <optional>

namespace iwarp::compat {

using Endpoint = boost::asio::ip::tcp::endpoint;

/// An IPv4 or IPv6 address; none for other families.
std::optional<Endpoint> endpoint_of(const sockaddr* from);
void store(sockaddr_storage& to, const Endpoint& from);
socklen_t size_of(const sockaddr* address);

/// The local address from which the system would send to `to`. 0, or an errno.
int source_for(const Endpoint& to, boost::asio::ip::address& source);

/// Whether ids of this port space are for datagrams. iWARP has none: such an id exists, finds its
/// device, and gets neither a queue pair nor a peer.
bool is_for_datagrams(int port_space);

/// Wildcard and loopback addresses, as the kernel's cma_any_addr() has them: an id that is bound to
/// one has no device. Where it connects to does.
bool names_no_device(const boost::asio::ip::address& address);

}  // namespace iwarp::compat
