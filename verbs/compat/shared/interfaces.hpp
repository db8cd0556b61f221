#pragma once

#include <net/if.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string>
#include <vector>

namespace iwarp::compat {

/// A network interface that is up and has an address; its values are those of the moment.
struct Interface {
  std::string name;
  unsigned index = 0;
  std::vector<boost::asio::ip::address> addresses;  ///< IPv4 first.
  std::array<std::uint8_t, 6> mac{};
  unsigned mtu = 1500;
  bool loopback = false;
};

/// All of them, by index; of those that IWARP_INTERFACES names, if it does, in its order.
std::vector<Interface> usable_interfaces();

/// The interface that has `address`, or had it less than a second ago; the loopback one for every
/// address of 127.0.0.0/8.
std::optional<Interface> interface_of(const boost::asio::ip::address& address);

}  // namespace iwarp::compat
