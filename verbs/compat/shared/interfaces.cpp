#include "shared/interfaces.hpp"

#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>

#include "iwarp/process/descriptor.hpp"
#include "iwarp/process/forks.hpp"
#include "iwarp/verbs/log.hpp"

namespace iwarp::compat {
namespace {

namespace ip = boost::asio::ip;

std::optional<ip::address> address_of(const sockaddr* from) {
  if (from->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, from, sizeof in);
    return ip::address_v4(ntohl(in.sin_addr.s_addr));
  }
  if (from->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 in6{};
  std::memcpy(&in6, from, sizeof in6);
  ip::address_v6::bytes_type bytes{};
  std::memcpy(bytes.data(), &in6.sin6_addr, bytes.size());
  return ip::address_v6(bytes, in6.sin6_scope_id);
}

// Of an interface that any socket of IPv4 asks about.
unsigned mtu_of(const std::string& name, const process::Descriptor& socket) {
  constexpr unsigned kEthernet = 1500;
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  const bool known = socket && ::ioctl(socket.get(), SIOCGIFMTU, &request) == 0;
  return known ? static_cast<unsigned>(request.ifr_mtu) : kEthernet;
}

// The indices of interfaces, by name: an address may have a name of its own, such as eth0:1. The
// system is asked once for each, and not for those whose link layer is in the list.
class Indices {
 public:
  unsigned of(const ifaddrs& entry) {
    const auto [known, added] = by_name_.try_emplace(entry.ifa_name, 0);
    if (added) known->second = find(entry);
    return known->second;
  }

 private:
  static unsigned find(const ifaddrs& entry) {
    if (entry.ifa_addr->sa_family != AF_PACKET) return ::if_nametoindex(entry.ifa_name);
    sockaddr_ll link{};
    std::memcpy(&link, entry.ifa_addr, sizeof link);
    return static_cast<unsigned>(link.sll_ifindex);
  }

  std::map<std::string, unsigned> by_name_;
};

// An address may have a name of its own, the link layer has the device's.
std::string name_of(const ifaddrs& entry, unsigned index) {
  std::array<char, IF_NAMESIZE> name{};
  const bool is_device = entry.ifa_addr->sa_family == AF_PACKET;
  if (is_device || ::if_indextoname(index, name.data()) == nullptr) return entry.ifa_name;
  return name.data();
}

void add(Interface& to, const sockaddr* from) {
  if (from->sa_family == AF_PACKET) {
    sockaddr_ll link{};
    std::memcpy(&link, from, sizeof link);
    std::copy_n(std::begin(link.sll_addr), to.mac.size(), to.mac.begin());
  } else if (const auto address = address_of(from)) {
    to.addresses.push_back(*address);
  }
}

std::vector<std::string> chosen_names() {
  const char* const chosen = std::getenv("IWARP_INTERFACES");
  std::vector<std::string> names;
  if (chosen == nullptr) return names;
  std::istringstream list(chosen);
  for (std::string name; std::getline(list, name, ',');) {
    const bool again = std::find(names.begin(), names.end(), name) != names.end();
    if (!name.empty() && !again) names.push_back(name);
  }
  return names;
}

// Said once for each name.
void warn_of(const std::string& missing) {
  static std::mutex mutex;
  static auto* const warned = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (!warned->insert(missing).second) return;
  verbs::log(verbs::LogLevel::kWarn, "IWARP_INTERFACES names " + missing +
                                         ", which is no interface that is up and has an address");
}

std::vector<Interface> chosen_of(std::vector<Interface> all) {
  static const auto* const names = new std::vector<std::string>(chosen_names());
  if (names->empty()) return all;
  std::vector<Interface> chosen;
  for (const std::string& name : *names) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&name](const Interface& each) { return each.name == name; });
    if (found == all.end()) {
      warn_of(name);
    } else {
      chosen.push_back(std::move(*found));
    }
  }
  return chosen;
}

bool has_address(const Interface& interface, const ip::address& address) {
  if (interface.loopback && address.is_loopback()) return true;
  return std::ranges::find(interface.addresses, address) != interface.addresses.end();
}

// Each connection asks for the interface of its address, which is that of the one before: the list
// is not asked for again within a second, unless an address is not in it.
class RecentInterfaces {
 public:
  std::optional<Interface> with(const ip::address& address) {
    constexpr std::chrono::seconds kRecent{1};
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now < since_ + kRecent) {
      if (auto known = find(address)) return known;
    }
    interfaces_ = usable_interfaces();
    since_ = now;
    return find(address);
  }

 private:
  [[nodiscard]] std::optional<Interface> find(const ip::address& address) const {
    const auto found = std::ranges::find_if(
        interfaces_, [&address](const Interface& each) { return has_address(each, address); });
    return found == interfaces_.end() ? std::nullopt : std::optional(*found);
  }

  std::mutex mutex_;
  std::vector<Interface> interfaces_;
  std::chrono::steady_clock::time_point since_{};
};

}  // namespace

std::vector<Interface> usable_interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  Indices indices;
  std::map<unsigned, Interface> found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const unsigned index = indices.of(*each);
    Interface& interface = found[index];
    if (interface.name.empty()) interface.name = name_of(*each, index);
    interface.loopback = (each->ifa_flags & IFF_LOOPBACK) != 0;
    add(interface, each->ifa_addr);
  }
  const process::Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  std::vector<Interface> usable;
  for (auto& [index, interface] : found) {
    if (index == 0 || interface.addresses.empty()) continue;
    interface.index = index;
    interface.mtu = mtu_of(interface.name, socket);
    std::stable_partition(interface.addresses.begin(), interface.addresses.end(),
                          [](const ip::address& address) { return address.is_v4(); });
    usable.push_back(std::move(interface));
  }
  return chosen_of(std::move(usable));
}

std::optional<Interface> interface_of(const ip::address& address) {
  return process::of_this_process<RecentInterfaces>().with(address);
}

}  // namespace iwarp::compat
