#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

namespace iwarp::cli::file_service {

/// One client of a server that can have so many at once.
struct Slot {
  boost::asio::ip::address peer;
  /// Since when the client makes no use of it; none while it does.
  std::optional<std::chrono::steady_clock::time_point> spare_since;
};

/// Which of the clients makes room for one that comes from `newcomer`: of those without a use for
/// their slot the one that has had none for longest, of the network (verbs::counted_network) that
/// has most of these. None if all are in use, or if that one's network has fewer slots than the
/// newcomer's: a network that takes many drives out none that takes few.
std::optional<std::size_t> makes_room(std::span<const Slot> slots,
                                      const boost::asio::ip::address& newcomer);

}  // namespace iwarp::cli::file_service
