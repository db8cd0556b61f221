// What is no rsocket of ours, by the connection manager.
#include <rdma/rdma_cma.h>

#include <thread>

#include "rsocket/loopback.hpp"

namespace iwarp::rsocket_test {
namespace {

/// A synchronous id with a queue pair, once it has a device.
class Endpoint {
 public:
  Endpoint() { EXPECT_EQ(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), 0); }
  explicit Endpoint(rdma_cm_id* existing) : id(existing) {}
  ~Endpoint() {
    if (id->qp != nullptr) rdma_destroy_qp(id);
    rdma_destroy_id(id);
  }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  void create_qp() const {
    ibv_qp_init_attr attributes{};
    attributes.cap = {.max_send_wr = 1,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    attributes.qp_type = IBV_QPT_RC;
    ASSERT_EQ(rdma_create_qp(id, nullptr, &attributes), 0) << strerror(errno);
  }

  rdma_cm_id* id = nullptr;
};

int connect_with(sockaddr_in to, const std::string& private_data) {
  const Endpoint client;
  EXPECT_EQ(rdma_resolve_addr(client.id, nullptr, reinterpret_cast<sockaddr*>(&to), 2000), 0);
  EXPECT_EQ(rdma_resolve_route(client.id, 2000), 0);
  client.create_qp();
  rdma_conn_param parameters{};
  parameters.private_data = private_data.data();
  parameters.private_data_len = static_cast<std::uint8_t>(private_data.size());
  return error_of(rdma_connect(client.id, &parameters));
}

TEST(RsocketListener, RefusesWhatIsNoRsocket) {
  const Listener listener;
  EXPECT_EQ(connect_with(listener.address(), ""), ECONNREFUSED);
  EXPECT_EQ(connect_with(listener.address(), std::string(64, 'x')), ECONNREFUSED);
  // A later version of the protocol.
  EXPECT_EQ(connect_with(listener.address(), "iwRS\x7f" + std::string(27, '\0')), ECONNREFUSED);
  const Pair still_works(listener);
  ASSERT_EQ(rsend(still_works.client, "x", 1, 0), 1);
  EXPECT_EQ(receive(still_works.server, 1).size(), 1U);
}

/// Something that listens, accepts or rejects with this private data, and goes.
void serve_once(const Endpoint& listener, bool accepts, const std::string& private_data) {
  rdma_cm_id* id = nullptr;
  ASSERT_EQ(rdma_get_request(listener.id, &id), 0) << strerror(errno);
  const Endpoint server(id);
  const auto size = static_cast<std::uint8_t>(private_data.size());
  if (!accepts) {
    EXPECT_EQ(rdma_reject(id, private_data.data(), size), 0);
    return;
  }
  server.create_qp();
  rdma_conn_param parameters{};
  parameters.private_data = private_data.data();
  parameters.private_data_len = size;
  EXPECT_EQ(rdma_accept(id, &parameters), 0) << strerror(errno);
  rdma_disconnect(id);
}

int connect_to_one_that(bool accepts, const std::string& private_data) {
  const Endpoint listener;
  sockaddr_in any = loopback(0);
  EXPECT_EQ(rdma_bind_addr(listener.id, reinterpret_cast<sockaddr*>(&any)), 0);
  EXPECT_EQ(rdma_listen(listener.id, 1), 0);
  std::thread serves([&] { serve_once(listener, accepts, private_data); });
  const sockaddr_in to = loopback(ntohs(rdma_get_src_port(listener.id)));
  const Owned client(rsocket(AF_INET, SOCK_STREAM, 0));
  const int error = error_of(rconnect(client, plain(to), sizeof to));
  serves.join();
  return error;
}

TEST(RsocketClient, TellsRefusalsApart) {
  EXPECT_EQ(connect_to_one_that(false, ""), ECONNREFUSED);
  EXPECT_EQ(connect_to_one_that(false, "iwRS\x7f" + std::string(3, '\0')), EPROTO);
}

TEST(RsocketClient, DoesNotTalkToWhatIsNoRsocket) {
  EXPECT_EQ(connect_to_one_that(true, ""), EPROTO);
  EXPECT_EQ(connect_to_one_that(true, std::string(64, 'x')), EPROTO);
}

}  // namespace
}  // namespace iwarp::rsocket_test
