#include "identity.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netpacket/packet.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

namespace iwarp::rnic {
namespace {

namespace fs = std::filesystem;

using HardwareAddress = std::array<unsigned char, 6>;

fs::path folder_of(const Adapter& adapter) {
  return fs::path("/sys/class/infiniband") / adapter.name;
}

// siw has no device below it that a driver would be bound to.
std::string driver_of(const Adapter& adapter) {
  if (adapter.is_siw()) return "siw";
  std::error_code none;
  return fs::read_symlink(folder_of(adapter) / "device" / "driver", none).filename().string();
}

HardwareAddress front_of(const std::string& gid) {
  std::array<unsigned, 6> octets{};
  HardwareAddress address{};
  if (std::sscanf(gid.c_str(), "%2x%2x:%2x%2x:%2x%2x", &octets[0], &octets[1], &octets[2],
                  &octets[3], &octets[4], &octets[5]) != 6) {
    return {};
  }
  std::ranges::transform(octets, address.begin(),
                         [](unsigned octet) { return static_cast<unsigned char>(octet); });
  return address;
}

bool has_address(const ifaddrs& one, const HardwareAddress& wanted) {
  if (one.ifa_addr == nullptr || one.ifa_addr->sa_family != AF_PACKET) return false;
  const auto* link = reinterpret_cast<const sockaddr_ll*>(one.ifa_addr);
  return link->sll_halen == wanted.size() &&
         std::equal(wanted.begin(), wanted.end(), link->sll_addr);
}

// An IPv4 address may have a label instead: "eth0:backup".
std::string interface_of(const ifaddrs& one) {
  const std::string name = one.ifa_name;
  return name.substr(0, name.find(':'));
}

std::string text_of(const ifaddrs& one) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = one.ifa_addr == nullptr ? AF_UNSPEC : one.ifa_addr->sa_family;
  const void* address = nullptr;
  if (family == AF_INET) address = &reinterpret_cast<sockaddr_in*>(one.ifa_addr)->sin_addr;
  if (family == AF_INET6) address = &reinterpret_cast<sockaddr_in6*>(one.ifa_addr)->sin6_addr;
  if (address == nullptr) return {};
  return ::inet_ntop(family, address, text.data(), text.size()) == nullptr ? "" : text.data();
}

}  // namespace

std::vector<std::string> addresses_behind(const std::string& gid) {
  const HardwareAddress wanted = front_of(gid);
  ifaddrs* first = nullptr;
  if (wanted == HardwareAddress{} || ::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> freed(first, ::freeifaddrs);
  std::set<std::string> interfaces;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (has_address(*one, wanted)) interfaces.insert(interface_of(*one));
  }
  std::vector<std::string> addresses;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (!interfaces.contains(interface_of(*one))) continue;
    if (std::string text = text_of(*one); !text.empty()) addresses.push_back(std::move(text));
  }
  return addresses;
}

Identity identity_of(const Adapter& adapter) {
  std::string gid;
  std::ifstream(folder_of(adapter) / "ports" / std::to_string(kPort) / "gids" / "0") >> gid;
  return {driver_of(adapter), addresses_behind(gid)};
}

}  // namespace iwarp::rnic
