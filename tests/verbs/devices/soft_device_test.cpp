#include <gmock/gmock.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "verbs/loopback_support.hpp"

// The names of the software stack, and what they do to its sockets.
namespace iwarp::verbs::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// The interface that each TCP socket of this process is confined to.
std::vector<std::string> interfaces_of_sockets() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int socket = std::atoi(entry.path().filename().c_str());
    int type = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0) continue;
    int family = 0;
    size = sizeof family;
    EXPECT_EQ(::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size), 0);
    if (type != SOCK_STREAM || (family != AF_INET && family != AF_INET6)) continue;
    std::array<char, 32> name{};
    size = name.size();
    EXPECT_EQ(::getsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name.data(), &size), 0);
    all.emplace_back(name.data());
  }
  return all;
}

void exchange_a_message(LoopbackPair& pair) {
  Buffer source(pair.client.pd, 1000, Access::kNone, std::byte{'s'});
  Buffer sink(pair.server.pd, 1000, Access::kLocalWrite);
  const Sge from = source.sge();
  const Sge to = sink.sge();
  ASSERT_TRUE(pair.server_qp.post_receive({.wr_id = 1, .sges = {&to, 1}}));
  ASSERT_TRUE(pair.client_qp.post_send(send_of(2, {&from, 1})));
  const auto received = pair.server.cq.wait(kPatience);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->status, Status::kSuccess);
}

TEST(SoftDevice, IsCalledSoft) {
  ::unsetenv("IWARP_DEVICE");
  EXPECT_THAT(device_names(), ElementsAre("soft"));
  EXPECT_EQ(must(Device::open()).attributes().name, "soft");
  EXPECT_EQ(must(Device::open("soft")).attributes().name, "soft");
  EXPECT_EQ(must(Device::open("soft:lo")).attributes().name, "soft:lo");
  EXPECT_EQ(must(Device::open("soft")).attributes().read_sink, Access::kLocalWrite);
  const auto old = Device::open("kernel");
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, std::errc::no_such_device);
  EXPECT_EQ(old.error().message, "no device is called 'kernel': there are soft, soft:INTERFACE");
}

TEST(SoftDevice, BothEndsOfAConnectionMayBeConfinedToOneInterface) {
  ::setenv("IWARP_DEVICE", "soft:lo", 1);
  LoopbackPair pair;
  EXPECT_EQ(pair.client.device.attributes().name, "soft:lo");
  EXPECT_THAT(interfaces_of_sockets(), AllOf(SizeIs(2), Each("lo")));
  const auto listener = must(pair.server.device.listen(Endpoint(Address(), 0)));
  EXPECT_THAT(interfaces_of_sockets(), AllOf(SizeIs(3), Each("lo")));
  exchange_a_message(pair);
}

TEST(SoftDevice, IsNotConfinedUnlessAnInterfaceIsNamed) {
  ::unsetenv("IWARP_DEVICE");
  LoopbackPair pair;
  EXPECT_THAT(interfaces_of_sockets(), AllOf(SizeIs(2), Each("")));
}

TEST(SoftDevice, InterfaceThatIsNotThereIsNamed) {
  // The system would take the beginning of what is too long for a name, and of one with a zero.
  for (const std::string& interface : {std::string("nosuch"), std::string("lo:1"),
                                       std::string("lo\0x", 4), std::string(40, 'l')}) {
    SCOPED_TRACE(interface);
    const auto device = Device::open("soft:" + interface);
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().code, std::errc::no_such_device);
    EXPECT_THAT(device.error().message, HasSubstr("no network interface is called '" + interface));
  }
}

TEST(SoftDevice, FailedConnectionNamesTheInterfaceThatItWasConfinedTo) {
  const auto device = must(Device::open("soft:lo"));
  auto pd = must(Device(device).alloc_pd());
  auto cq = must(Device(device).create_cq(16));
  auto qp = must(pd.create_qp(cq));
  const auto connected = qp.connect(Endpoint(Address::loopback(), 1));
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, std::errc::connection_refused);
  EXPECT_THAT(connected.error().message, HasSubstr("by the interface lo"));
}

}  // namespace
}  // namespace iwarp::verbs::test
