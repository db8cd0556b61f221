// What is confined to a network interface is reached by that one alone: in a network of its own,
// with a pair of interfaces whose other end is in a second one. Ends with 77 where no such network
// can be had.
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "iwarp/verbs/verbs.hpp"
#include "support/forked_child.hpp"

namespace {

using namespace iwarp::verbs;
using namespace std::chrono_literals;

constexpr const char* kNear = "192.0.2.1";
constexpr std::uint16_t kByNear = 7301, kByLoopback = 7302;

bool run(const std::string& command) { return std::system(command.c_str()) == 0; }

bool expect(bool condition, const std::string& claim) {
  std::printf("%s: %s\n", condition ? "right" : "WRONG", claim.c_str());
  std::fflush(stdout);  // a child ends without
  return condition;
}

Endpoint at(const char* address, std::uint16_t port) {
  return Endpoint(*Address::parse(address), port);
}

// "" if a connection of that device comes about, else why not.
std::string connect(const std::string& device_name, const Endpoint& to) {
  auto device = Device::open(device_name);
  if (!device) return device.error().message;
  auto pd = device->alloc_pd().value();
  auto cq = device->create_cq(16).value();
  auto qp = pd.create_qp(cq).value();
  ConnectOptions options;
  options.timeout = 3s;
  const auto done = qp.connect(to, options);
  return done ? "" : done.error().message;
}

// The other network: connects to both listeners by the pair of interfaces.
bool far_side() {
  if (!run("ip addr add 192.0.2.2/24 dev far && ip link set far up")) return false;
  const std::string near = connect("soft:far", at(kNear, kByNear));
  const std::string loopback = connect("soft:far", at(kNear, kByLoopback));
  return expect(near.empty(), "what listens by near is reached by near " + near) &
         expect(!loopback.empty(), "what listens by lo is not reached by near: " + loopback);
}

class AcceptAll {
 public:
  AcceptAll(const std::string& device, std::uint16_t port)
      : device_(Device::open(device).value()),
        pd_(device_.alloc_pd().value()),
        cq_(device_.create_cq(64).value()),
        listener_(device_
                      .listen(Endpoint(Address(), port), {},
                              [this](ConnectionRequest request) {
                                qps_.push_back(pd_.create_qp(cq_).value());
                                (void)request.start_accept(qps_.back());
                              })
                      .value()) {}

 private:
  Device device_;
  ProtectionDomain pd_;
  CompletionQueue cq_;
  std::vector<QueuePair> qps_;
  Listener listener_;
};

// The pair of interfaces goes with the other network, some time after the child that had it, or
// now.
void remove_pair() {
  while (::if_nametoindex("near") != 0) {
    run("ip link del near 2>/dev/null");
    ::usleep(1000);
  }
}

bool near_side(const iwarp::test::Pipe& go) {
  bool right = true;
  Device device = Device::open("soft:near").value();
  {
    const AcceptAll near("soft:near", kByNear), loopback("soft:lo", kByLoopback);
    const std::string by_lo = connect("soft", at("127.0.0.1", kByLoopback));
    const std::string near_by_lo = connect("soft", at("127.0.0.1", kByNear));
    const std::string lo_by_near = connect("soft", at(kNear, kByLoopback));
    right &= expect(by_lo.empty(), "what listens by lo is reached by lo " + by_lo);
    right &=
        expect(!near_by_lo.empty(), "what listens by near is not reached by lo: " + near_by_lo);
    right &= expect(!lo_by_near.empty(), "nor what listens by lo at near's address: " + lo_by_near);
    go.write('g');
    int status = 1;
    right &= ::wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  remove_pair();
  const auto listener = device.listen(Endpoint(Address(), 0));
  right &= expect(!listener && listener.error().code == std::errc::no_such_device &&
                      listener.error().message.find("near") != std::string::npos,
                  "a listener by an interface that has gone says so: " +
                      (listener ? "it listens" : listener.error().message));
  return right;
}

}  // namespace

int main() {
  if (::unshare(CLONE_NEWNET) != 0) return 77;
  iwarp::test::Pipe ready, go;
  const pid_t child = iwarp::test::fork_for();
  if (child == 0) {
    if (::unshare(CLONE_NEWNET) != 0) ::_exit(1);
    ready.write('r');
    ::_exit(go.read<char>() == 'g' && far_side() ? 0 : 1);
  }
  if (ready.read<char>() != 'r') return 77;
  const std::string make =
      "ip link set lo up && ip link add near type veth peer name far && ip addr add "
      "192.0.2.1/24 dev near && ip link set near up && ip link set far netns ";
  if (!run(make + std::to_string(child))) {
    ::kill(child, SIGKILL);
    return 77;
  }
  return near_side(go) ? 0 : 1;
}
