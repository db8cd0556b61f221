#include "identity.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>

#include <filesystem>
#include <fstream>
#include <memory>

namespace iwarp::rnic {
namespace {

using testing::IsEmpty;

/// The GID of an adapter whose port has the hardware address of that interface; empty without one.
std::string gid_of(const std::filesystem::path& interface) {
  std::string address;
  std::ifstream(interface / "address") >> address;
  if (address.size() != 17 || address == "00:00:00:00:00:00") return {};
  const auto pair = [&](std::size_t at) {
    return address.substr(at, 2) + address.substr(at + 3, 2);
  };
  return pair(0) + ":" + pair(6) + ":" + pair(12) + ":0000:0000:0000:0000:0000";
}

/// Its IPv4 addresses, as another way knows them.
std::vector<std::string> v4_of(const std::string& interface) {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> freed(first, ::freeifaddrs);
  std::vector<std::string> all;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    const std::string label = one->ifa_name;  // "eth0", or "eth0:backup"
    if (label != interface && !label.starts_with(interface + ":")) continue;
    if (one->ifa_addr == nullptr) continue;
    if (one->ifa_addr->sa_family != AF_INET) continue;
    all.emplace_back(::inet_ntoa(reinterpret_cast<sockaddr_in*>(one->ifa_addr)->sin_addr));
  }
  return all;
}

TEST(AdapterIdentity, HasTheAddressesOfTheInterfaceThatItsGidNames) {
  bool any = false;
  for (const auto& interface : std::filesystem::directory_iterator("/sys/class/net")) {
    const std::string gid = gid_of(interface.path());
    if (gid.empty()) continue;
    const auto found = addresses_behind(gid);
    for (const std::string& address : v4_of(interface.path().filename().string())) {
      EXPECT_THAT(found, testing::Contains(address)) << interface.path();
      any = true;
    }
  }
  if (!any) GTEST_SKIP() << "no interface of this host has a hardware address and one of IPv4";
}

TEST(AdapterIdentity, GidsOfNoInterfaceHaveNoAddress) {
  for (const char* gid : {"", "no GID", "0000:0000:0000:0000:0000:0000:0000:0000", "5254:00",
                          "fffe:fdfc:fbfa:0000:0000:0000:0000:0000"}) {
    EXPECT_THAT(addresses_behind(gid), IsEmpty()) << gid;
  }
}

}  // namespace
}  // namespace iwarp::rnic
