#include <vector>

#include "lawful/connection.hpp"

// rdma_listen(3) and rdma_get_request(3): requests that wait for the program.
namespace iwarp::lawful {
namespace {

/// Asks a listener to connect, and is told at a channel.
Id asked(const Channel& told, const Id& listener) {
  Id id{told.get()};
  SocketAddress to = address(here(), ntohs(rdma_get_src_port(listener.get())));
  must(rdma_resolve_addr(id.get(), nullptr, to.plain(), 2000), "rdma_resolve_addr");
  told.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  must(rdma_resolve_route(id.get(), 2000), "rdma_resolve_route");
  told.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
  Connection::make_qp(id);
  must(rdma_connect(id.get(), nullptr), "rdma_connect");
  return id;
}

// ucma_event_handler() counts the requests whose events have not been taken, and rejects one more.
TEST(Backlog, BoundsTheRequestsThatWait) {
  const Channel server, channels[3];
  const Id listener{server.get()};
  SocketAddress at = address(here());
  ASSERT_EQ(rdma_bind_addr(listener.get(), at.plain()), 0);
  ASSERT_EQ(rdma_listen(listener.get(), 2), 0);
  std::vector<Id> clients;
  for (const Channel& channel : channels) clients.push_back(asked(channel, listener));
  // Which of them comes last is the network's choice.
  int rejected = 0;
  for (int look = 0; look < 5000 && rejected == 0; ++look) {
    for (const Channel& channel : channels) {
      if (channel.has_event(1)) {
        channel.expect(RDMA_CM_EVENT_REJECTED, -ECONNREFUSED);
        ++rejected;
      }
    }
  }
  EXPECT_EQ(rejected, 1);
  const Id first(server.expect(RDMA_CM_EVENT_CONNECT_REQUEST));
  const Id second(server.expect(RDMA_CM_EVENT_CONNECT_REQUEST));
  EXPECT_FALSE(server.has_event(50));
  // There is room again.
  const Channel later;
  const Id fourth = asked(later, listener);
  const Id third(server.expect(RDMA_CM_EVENT_CONNECT_REQUEST));
}

}  // namespace
}  // namespace iwarp::lawful
