// Which interfaces become devices, as IWARP_INTERFACES says: in a network of its own, where there
// are some. Ends with 77 where no such network can be had.
#include <infiniband/verbs.h>
#include <net/if.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/forked_child.hpp"

namespace {

// "lo=iwarp0 near=iwarp1 ...", in the order of the list.
std::string devices() {
  std::string all;
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  for (int i = 0; i < count; ++i) {
    ibv_context* const context = ibv_open_device(list[i]);
    ibv_gid_entry entry{};
    if (context == nullptr || ibv_query_gid_ex(context, 1, 0, &entry, 0) != 0) return "?";
    char name[64] = "?";
    if (::if_indextoname(entry.ndev_ifindex, name) == nullptr) return "?";
    all += (all.empty() ? "" : " ") + std::string(name) + "=" + ibv_get_device_name(list[i]);
    ibv_close_device(context);
  }
  ibv_free_device_list(list);
  return all;
}

// What a process sees that has this in its environment.
std::string devices_with(const char* chosen) {
  iwarp::test::Pipe answer;
  const pid_t child = iwarp::test::fork_for();
  if (child == 0) {
    if (chosen != nullptr) ::setenv("IWARP_INTERFACES", chosen, 1);
    const std::string all = devices();
    ::_exit(::write(answer.writer(), all.data(), all.size()) < 0 ? 1 : 0);
  }
  answer.close_writer();
  const std::string all = answer.read_all();
  ::waitpid(child, nullptr, 0);
  return all;
}

bool expect(const char* chosen, const std::string& expected) {
  const std::string found = devices_with(chosen);
  const bool right = found == expected;
  std::printf("%-12s %s%s\n", chosen == nullptr ? "(none)" : chosen, found.c_str(),
              right ? "" : (", not " + expected).c_str());
  return right;
}

}  // namespace

int main() {
  if (::unshare(CLONE_NEWNET) != 0) return 77;
  constexpr const char* kMake =
      "ip link set lo up && ip link add near type veth peer name far && "
      "ip addr add 192.0.2.1/24 dev near label near:1 && ip addr add 192.0.2.2/24 dev far && "
      "ip link set near up && ip link set far up";
  if (std::system(kMake) != 0) return 77;
  // One without a link layer, where the system has such.
  constexpr const char* kMakeBare =
      "ip tuntap add dev bare mode tun 2>/dev/null && "
      "ip addr add 198.51.100.1/24 dev bare label bare:1 && ip link set bare up";
  const bool has_bare = std::system(kMakeBare) == 0;
  ::unsetenv("IWARP_INTERFACES");
  const std::string all = devices_with(nullptr);
  bool right = all.starts_with("lo=iwarp0 ") && all.find("near=iwarp") != all.npos;
  std::printf("all: %s\n", all.c_str());
  right = expect("near,lo", "near=iwarp0 lo=iwarp1") && right;
  right = expect("far", "far=iwarp0") && right;
  right = expect("lo,nothere,lo,", "lo=iwarp0") && right;
  right = expect("nothere", "") && right;
  right = (!has_bare || expect("bare", "bare=iwarp0")) && right;
  return right ? 0 : 1;
}
