#include "lawful/connection.hpp"

// rdma_connect(3), rdma_accept(3) and rdma_migrate_id(3): what an attempt to connect leaves as it
// was, and where its events are told.
namespace iwarp::lawful {
namespace {

// The kernel's rdma_connect() wants an id whose route has been resolved, and nothing behind that.
TEST(Connect, AgainIsRefusedAndChangesNothing) {
  Connection both;
  both.request();
  EXPECT_EQ(rdma_connect(both.client->get(), nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  ASSERT_EQ(rdma_accept(both.server->get(), nullptr), 0);
  both.client_channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  both.server_channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(rdma_connect(both.client->get(), nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rdma_accept(both.server->get(), nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  ASSERT_EQ(rdma_disconnect(both.client->get()), 0);
  both.server_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  ASSERT_EQ(rdma_disconnect(both.server->get()), 0);
  both.client_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
}

// iw_cm_disconnect() has nothing to do, and the id's calls have no event to wait for.
TEST(Connect, ThatWasRejectedLeavesNothingToDisconnect) {
  const Channel channel;
  const Id listener{channel.get()};
  SocketAddress at = address(here());
  ASSERT_EQ(rdma_bind_addr(listener.get(), at.plain()), 0);
  ASSERT_EQ(rdma_listen(listener.get(), 4), 0);
  std::thread rejects([&channel] {
    const Id request(channel.expect(RDMA_CM_EVENT_CONNECT_REQUEST));
    EXPECT_EQ(rdma_reject(request.get(), nullptr, 0), 0);
  });
  const Id client;
  SocketAddress to = address(here(), ntohs(rdma_get_src_port(listener.get())));
  EXPECT_EQ(rdma_resolve_addr(client.get(), nullptr, to.plain(), 2000), 0);
  EXPECT_EQ(rdma_resolve_route(client.get(), 2000), 0);
  Connection::make_qp(client);
  EXPECT_EQ(rdma_connect(client.get(), nullptr), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
  rejects.join();
  EXPECT_EQ(rdma_disconnect(client.get()), 0);
}

// ucma_process_conn_req(): the id of a request has the channel that its listener has.
TEST(Migrated, ListenerTakesItsRequestsAndTheirEventsAlong) {
  Connection both;
  ASSERT_EQ(rdma_connect(both.client->get(), nullptr), 0);
  ASSERT_TRUE(both.server_channel.has_event());
  const Channel other;
  ASSERT_EQ(rdma_migrate_id(both.listener.get(), other.get()), 0);
  both.server.emplace(other.expect(RDMA_CM_EVENT_CONNECT_REQUEST));
  EXPECT_EQ((*both.server)->channel, other.get());
  Connection::make_qp(*both.server);
  ASSERT_EQ(rdma_accept(both.server->get(), nullptr), 0);
  EXPECT_EQ(other.expect(RDMA_CM_EVENT_ESTABLISHED), both.server->get());
  both.client_channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  ASSERT_EQ(rdma_disconnect(both.client->get()), 0);
  EXPECT_EQ(other.expect(RDMA_CM_EVENT_DISCONNECTED), both.server->get());
  both.server.reset();
  both.listener = Id();  // before its channel
}

}  // namespace
}  // namespace iwarp::lawful
