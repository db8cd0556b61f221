#include "soft/interface.hpp"

#include "iwarp/tcp_offload/kernel_device.hpp"

namespace iwarp::verbs::soft {

std::optional<Error> interface_error(const std::string& interface, const std::string& what_failed) {
  if (interface.empty()) return std::nullopt;
  const std::error_code error = tcp_offload::try_interface(interface);
  if (!error) return std::nullopt;
  if (error == std::errc::no_such_device) {
    return Error{error, what_failed + ": no network interface is called '" + interface + "'"};
  }
  return Error{error, what_failed + ": sockets cannot be confined to the network interface '" +
                          interface + "': " + error.message()};
}

std::string by_interface(const tcp_offload::Device& device) {
  const std::string interface(device.interface());
  return interface.empty() ? interface : " by the interface " + interface;
}

}  // namespace iwarp::verbs::soft
