#include <rdma/rdma_verbs.h>

#include "lawful/connection.hpp"

// The steps of an id come in their order: the kernel's rdma_bind_addr(), rdma_resolve_addr(),
// rdma_resolve_route(), rdma_connect() and rdma_listen() want its state to be that before, and say
// EINVAL. What they refuse changes nothing and has no event.
namespace iwarp::lawful {
namespace {

void expect_invalid(int result) {
  EXPECT_EQ(result, -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST(Steps, IdIsBoundOnce) {
  const Id id;
  SocketAddress at = address("127.0.0.1");
  ASSERT_EQ(rdma_bind_addr(id.get(), at.plain()), 0);
  const __be16 port = rdma_get_src_port(id.get());
  expect_invalid(rdma_bind_addr(id.get(), at.plain()));
  ASSERT_EQ(rdma_listen(id.get(), 4), 0);
  expect_invalid(rdma_bind_addr(id.get(), at.plain()));
  expect_invalid(rdma_listen(id.get(), 4));
  EXPECT_EQ(rdma_get_src_port(id.get()), port);
}

TEST(Steps, ComeOneAfterTheOther) {
  const Channel channel;
  const Id id{channel.get()};
  SocketAddress to = address(here(), 9);
  ASSERT_EQ(rdma_resolve_addr(id.get(), nullptr, to.plain(), 2000), 0);
  channel.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  Connection::make_qp(id);
  expect_invalid(rdma_resolve_addr(id.get(), nullptr, to.plain(), 2000));
  expect_invalid(rdma_connect(id.get(), nullptr));
  expect_invalid(rdma_listen(id.get(), 4));
  ASSERT_EQ(rdma_resolve_route(id.get(), 2000), 0);
  channel.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
  expect_invalid(rdma_resolve_route(id.get(), 2000));
  expect_invalid(rdma_listen(id.get(), 4));
  EXPECT_FALSE(channel.has_event(0));
}

TEST(Steps, IdOfARequestIsNeitherBoundNorResolvedNorListenedAt) {
  Connection both;
  both.request();
  SocketAddress at = address(here(), 9);
  expect_invalid(rdma_bind_addr(both.server->get(), at.plain()));
  expect_invalid(rdma_resolve_addr(both.server->get(), nullptr, at.plain(), 2000));
  expect_invalid(rdma_listen(both.server->get(), 4));
  ASSERT_EQ(rdma_accept(both.server->get(), nullptr), 0);
  both.client_channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  both.server_channel.expect(RDMA_CM_EVENT_ESTABLISHED);
}

TEST(Steps, AddressesHaveToBeOfAKnownFamilyAndOfOne) {
  const Id id;
  sockaddr local{};
  local.sa_family = AF_UNIX;
  expect_invalid(rdma_bind_addr(id.get(), &local));
  expect_invalid(rdma_resolve_addr(id.get(), nullptr, &local, 2000));
  SocketAddress six = address("::"), four = address(here(), 9);
  ASSERT_EQ(rdma_bind_addr(id.get(), six.plain()), 0);
  expect_invalid(rdma_resolve_addr(id.get(), nullptr, four.plain(), 2000));
}

// librdmacm's ucma_valid_param(): 255 is as many as there are, others have to be there.
TEST(Steps, MoreReadsThanTheDeviceHasAreRefused) {
  Connection both;
  rdma_conn_param much{};
  much.responder_resources = 200;
  expect_invalid(rdma_connect(both.client->get(), &much));
  much.responder_resources = RDMA_MAX_RESP_RES;
  much.initiator_depth = RDMA_MAX_INIT_DEPTH;
  EXPECT_EQ(rdma_connect(both.client->get(), &much), 0);
  EXPECT_TRUE(both.server_channel.has_event());
}

// rdma_create_srq_ex() and rdma_create_qp_ex() of librdmacm take the id's own domain where the
// attributes name none.
TEST(Domains, OfTheIdServesASharedReceiveQueue) {
  const Id id;
  SocketAddress to = address(here(), 9);
  ASSERT_EQ(rdma_resolve_addr(id.get(), nullptr, to.plain(), 2000), 0);
  ibv_srq_init_attr_ex shared{};
  shared.attr = {8, 1, 0};
  shared.comp_mask = IBV_SRQ_INIT_ATTR_PD;
  expect_invalid(rdma_create_srq_ex(id.get(), &shared));  // without a type
  shared.comp_mask |= IBV_SRQ_INIT_ATTR_TYPE;
  shared.srq_type = IBV_SRQT_BASIC;
  ASSERT_EQ(rdma_create_srq_ex(id.get(), &shared), 0) << std::strerror(errno);
  EXPECT_EQ(shared.pd, id->pd);
}

TEST(Domains, OfTheIdServesAQueuePair) {
  const Id id;
  SocketAddress to = address(here(), 9);
  ASSERT_EQ(rdma_resolve_addr(id.get(), nullptr, to.plain(), 2000), 0);
  ibv_qp_init_attr_ex wanted{};
  wanted.cap = {1, 1, 1, 1, 0};
  wanted.qp_type = IBV_QPT_RC;
  wanted.comp_mask = IBV_QP_INIT_ATTR_PD;
  ASSERT_EQ(rdma_create_qp_ex(id.get(), &wanted), 0) << std::strerror(errno);
  EXPECT_EQ(id->qp->pd, id->pd);
}

TEST(Domains, OfAnotherContextAreRefused) {
  const Id id;
  SocketAddress to = address(here(), 9);
  ASSERT_EQ(rdma_resolve_addr(id.get(), nullptr, to.plain(), 2000), 0);
  ibv_context* const again = must(ibv_open_device(id->verbs->device), "ibv_open_device");
  ibv_pd* const pd = must(ibv_alloc_pd(again), "ibv_alloc_pd");
  ibv_qp_init_attr attributes = compat_test::small_qp();
  expect_invalid(rdma_create_qp(id.get(), pd, &attributes));
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  EXPECT_EQ(ibv_close_device(again), 0);
}

TEST(Domains, OfAnEndpointThatListensAreItsIds) {
  SocketAddress to = address(here(), 9);
  const Id other;
  ASSERT_EQ(rdma_resolve_addr(other.get(), nullptr, to.plain(), 2000), 0);
  rdma_addrinfo hints{}, *found = nullptr;
  hints.ai_flags = RAI_PASSIVE;
  hints.ai_port_space = RDMA_PS_TCP;
  ASSERT_EQ(rdma_getaddrinfo(here(), "0", &hints, &found), 0);
  rdma_cm_id* made = nullptr;
  ASSERT_EQ(rdma_create_ep(&made, found, other->pd, nullptr), 0) << std::strerror(errno);
  rdma_freeaddrinfo(found);
  const Id listens(made);
  EXPECT_EQ(listens->pd, other->pd);
}

}  // namespace
}  // namespace iwarp::lawful
