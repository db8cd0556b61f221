#include <fcntl.h>
#include <poll.h>

#include <unordered_set>

#include "compat/host.hpp"
#include "support/descriptors.hpp"

// Keys, numbers, addresses and descriptors of what has gone come again. What the old one was for
// does not reach the new one.
namespace iwarp::compat_test {
namespace {

constexpr int kBindable = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND;

/// Registered octets.
struct Octets {
  std::array<char, 64> memory{};
  ibv_mr* mr;
  explicit Octets(ibv_pd* pd)
      : mr(must(ibv_reg_mr(pd, memory.data(), memory.size(), kBindable), "ibv_reg_mr")) {}
  Octets(const Octets&) = delete;
  Octets& operator=(const Octets&) = delete;
  ~Octets() { EXPECT_EQ(ibv_dereg_mr(mr), 0); }
  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uintptr_t>(memory.data());
  }
};

ibv_wc_status write_to(ibv_qp* qp, ibv_cq* cq, const Octets& from, std::uint64_t address,
                       std::uint32_t rkey) {
  ibv_sge sge{from.address(), 8, from.mr->lkey};
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma.remote_addr = address;
  request.wr.rdma.rkey = rkey;
  ibv_send_wr* bad = nullptr;
  must(ibv_post_send(qp, &request, &bad), "ibv_post_send");
  return completion_of(cq).status;
}

// Numbers of queue pairs that programs connect by themselves come again after 16384.
TEST(Reuse, OfANumberConnectedWithoutCmDoesNotOpenTheWindowOfTheLastOne) {
  Host host;
  Octets region(host.pd);
  Octets source(host.pd);
  source.memory.fill('w');
  ibv_qp* client = host.make_qp();
  ibv_qp* server = host.make_qp();
  connect_without_cm(client, server);
  connect_without_cm(server, client);
  ibv_mw* const window = must(ibv_alloc_mw(host.pd, IBV_MW_TYPE_2), "ibv_alloc_mw");
  ibv_send_wr bind{};
  bind.opcode = IBV_WR_BIND_MW;
  bind.bind_mw = {window, window->rkey, {region.mr, region.address(), 64, IBV_ACCESS_REMOTE_WRITE}};
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(server, &bind, &bad), 0);
  ASSERT_EQ(completion_of(host.cq).status, IBV_WC_SUCCESS);
  ASSERT_EQ(write_to(client, host.cq, source, region.address(), window->rkey), IBV_WC_SUCCESS);

  const std::uint32_t number = server->qp_num;
  ASSERT_EQ(ibv_destroy_qp(server), 0);
  ASSERT_EQ(ibv_destroy_qp(client), 0);
  ibv_wc left{};
  while (ibv_poll_cq(host.cq, 1, &left) > 0) {
  }
  region.memory.fill('-');
  int made = 0;
  for (server = host.make_qp(); server->qp_num != number && made < 20'000; ++made) {
    ASSERT_EQ(ibv_destroy_qp(server), 0);
    server = host.make_qp();
  }
  ASSERT_EQ(server->qp_num, number) << "it comes again";
  client = host.make_qp();
  connect_without_cm(client, server);
  connect_without_cm(server, client);
  write_to(client, host.cq, source, region.address(), window->rkey);
  ibv_send_wr* none = nullptr;
  ibv_send_wr nothing{};
  nothing.opcode = IBV_WR_RDMA_READ;  // the answer is behind the Write
  must(ibv_post_send(client, &nothing, &none), "ibv_post_send");
  EXPECT_NE(completion_of(host.cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(region.memory[0], '-');
  EXPECT_EQ(ibv_destroy_qp(server), 0);
  EXPECT_EQ(ibv_destroy_qp(client), 0);
  EXPECT_EQ(ibv_dealloc_mw(window), 0);
}

TEST(Reuse, OfANumberDoesNotHappenWhileAQueuePairHasIt) {
  Host host;
  ibv_qp* const kept = host.make_qp();
  for (int i = 0; i < 20'000; ++i) {
    ibv_qp* const qp = host.make_qp();
    ASSERT_NE(qp->qp_num, kept->qp_num) << i;
    ASSERT_EQ(ibv_destroy_qp(qp), 0);
  }
  EXPECT_EQ(ibv_destroy_qp(kept), 0);
}

TEST(Reuse, OfKeysDoesNotHappenSoon) {
  Host host;
  std::array<char, 64> memory{};
  std::unordered_set<std::uint32_t> keys;
  for (int i = 0; i < 50'000; ++i) {
    ibv_mr* const mr =
        must(ibv_reg_mr(host.pd, memory.data(), memory.size(), kBindable), "ibv_reg_mr");
    ASSERT_TRUE(keys.insert(mr->rkey).second) << i;
    must(ibv_dereg_mr(mr), "ibv_dereg_mr");
  }
}

// Of a window of type 1 it is the device's business.
TEST(Reuse, OfAWindowsKeysDoesNotHappenSoon) {
  Pair pair;
  End& end = pair.client;
  Octets region(end.id->pd);
  ibv_mw* const window = must(ibv_alloc_mw(end.id->pd, IBV_MW_TYPE_1), "ibv_alloc_mw");
  std::unordered_set<std::uint32_t> keys{window->rkey};
  for (int i = 0; i < 1000; ++i) {
    ibv_mw_bind bind{};
    bind.bind_info = {region.mr, region.address(), 16, IBV_ACCESS_REMOTE_WRITE};
    bind.send_flags = IBV_SEND_SIGNALED;
    ASSERT_EQ(ibv_bind_mw(end.id->qp, window, &bind), 0);
    ASSERT_EQ(completion_of(end.id->send_cq).status, IBV_WC_SUCCESS);
    ASSERT_TRUE(keys.insert(window->rkey).second) << "after " << i << " bindings";
  }
  EXPECT_EQ(ibv_dealloc_mw(window), 0);
}

TEST(Reuse, OfARegionWaitsForItsWindows) {
  Pair pair;
  End& end = pair.client;
  Octets region(end.id->pd);
  std::array<char, 64> other{};
  ibv_mw* const window = must(ibv_alloc_mw(end.id->pd, IBV_MW_TYPE_1), "ibv_alloc_mw");
  ibv_mw_bind bind{};
  bind.bind_info = {region.mr, region.address(), 16, IBV_ACCESS_REMOTE_WRITE};
  bind.send_flags = IBV_SEND_SIGNALED;
  ASSERT_EQ(ibv_bind_mw(end.id->qp, window, &bind), 0);
  ASSERT_EQ(completion_of(end.id->send_cq).status, IBV_WC_SUCCESS);
  const std::uint32_t key = region.mr->rkey;
  const auto move = [&] {
    return ibv_rereg_mr(region.mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, other.data(),
                        other.size(), 0);
  };
  EXPECT_EQ(move(), IBV_REREG_MR_ERR_CMD) << "and it is as it was";
  EXPECT_EQ(errno, EBUSY);
  EXPECT_EQ(region.mr->rkey, key);
  EXPECT_EQ(region.mr->addr, region.memory.data());
  EXPECT_EQ(ibv_dereg_mr(region.mr), EBUSY);
  EXPECT_EQ(ibv_dealloc_mw(window), 0);
  EXPECT_EQ(move(), 0);
}

// An id's address is its name in events: what waits for one that is destroyed is gone with it.
TEST(Reuse, OfAnIdsAddressBringsNoEventOfTheLastOne) {
  rdma_event_channel* const channel =
      must(rdma_create_event_channel(), "rdma_create_event_channel");
  must(fcntl(channel->fd, F_SETFL, O_NONBLOCK), "fcntl");
  sockaddr_in at = loopback(1);
  rdma_cm_id* last = nullptr;
  int again = 0;
  for (int i = 0; i < 2000; ++i) {
    rdma_cm_id* id = nullptr;
    must(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), "rdma_create_id");
    again += id == last ? 1 : 0;
    last = id;
    rdma_cm_event* event = nullptr;
    ASSERT_EQ(rdma_get_cm_event(channel, &event), -1) << "after " << i << " ids";
    ASSERT_EQ(errno, EAGAIN);
    must(rdma_resolve_addr(id, nullptr, plain(at), 2000), "rdma_resolve_addr");
    ASSERT_EQ(rdma_destroy_id(id), 0);
  }
  rdma_destroy_event_channel(channel);
  // AddressSanitizer keeps what was freed for a long time.
  if (again == 0) GTEST_SKIP() << "this allocator has given no address twice";
}

// A queue that was armed, and its channel, have gone when the descriptor comes again.
TEST(Reuse, OfAChannelsDescriptorBringsNoEventOfTheLastOne) {
  Pair pair;
  const std::size_t before = test::open_descriptors();
  int last = -1;
  int again = 0;
  for (int i = 0; i < 2000; ++i) {
    ibv_comp_channel* const channel =
        must(ibv_create_comp_channel(pair.client.id->verbs), "ibv_create_comp_channel");
    ibv_cq* const cq =
        must(ibv_create_cq(pair.client.id->verbs, 8, nullptr, channel, 0), "ibv_create_cq");
    again += channel->fd == last ? 1 : 0;
    last = channel->fd;
    pollfd readable{channel->fd, POLLIN, 0};
    ASSERT_EQ(poll(&readable, 1, 0), 0) << "after " << i << " channels";
    must(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
    ASSERT_EQ(ibv_destroy_cq(cq), 0);
    ASSERT_EQ(ibv_destroy_comp_channel(channel), 0);
  }
  EXPECT_GT(again, 0) << "no descriptor has come again";
  EXPECT_EQ(test::open_descriptors(), before);
}

}  // namespace
}  // namespace iwarp::compat_test
