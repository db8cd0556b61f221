#include "support/descriptors.hpp"

#include <poll.h>

#include "compat/pair.hpp"

// Calls of a program that has no descriptor left.
namespace iwarp::compat_test {
namespace {

using iwarp::test::DescriptorLimit;

class WithoutDescriptors : public testing::Test {
 protected:
  void SetUp() override {
    if (DescriptorLimit::kUnbearable) GTEST_SKIP() << DescriptorLimit::kWhy;
  }
};

// librdmacm leaves the event with the listener, whose end, or next call, acknowledges it.
TEST_F(WithoutDescriptors, GettingARequestFailsAndTheListenerGoesOn) {
  sockaddr_in at{};
  rdma_cm_id* const listener = listen(at);
  for (const bool served : {false, true, false}) {
    End client, server;
    client.id = resolve(at);
    client.make_qp();
    std::thread connector([&] {
      const int connected = rdma_connect(client.id, nullptr);
      EXPECT_EQ(connected == 0 ? 0 : errno, served ? 0 : ECONNREFUSED);
    });
    pollfd there{listener->channel->fd, POLLIN, 0};
    EXPECT_EQ(::poll(&there, 1, 20'000), 1);
    if (served) {
      EXPECT_EQ(rdma_get_request(listener, &server.id), 0);
      server.make_qp();
      EXPECT_EQ(rdma_accept(server.id, nullptr), 0);
    } else {
      const DescriptorLimit none(1);  // for a poll() of one; the first three are taken
      EXPECT_EQ(rdma_get_request(listener, &server.id), -1);
      EXPECT_EQ(errno, EMFILE);
    }
    connector.join();
  }
  EXPECT_EQ(rdma_destroy_id(listener), 0);
}

}  // namespace
}  // namespace iwarp::compat_test
