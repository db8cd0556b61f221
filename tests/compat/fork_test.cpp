#include "compat/pair.hpp"
#include "support/forked_child.hpp"
#include "support/sanitizers.hpp"

// A forked child: what it has inherited is its parent's, what it makes is its own.
namespace iwarp::compat_test {
namespace {

using test::status_of_child;

TEST(Fork, InheritedObjectsAreNotTheChilds) {
  Pair pair;
  pair.expect_alive();
  EXPECT_EQ(status_of_child([&pair] {
              End& end = pair.client;
              ibv_wc wc{};
              ibv_qp_attr attributes{};
              ibv_qp_init_attr init{};
              return end.post_send(1, end.sge()) == ENODEV && end.post_receive(1) == ENODEV &&
                     ibv_poll_cq(end.id->send_cq, 1, &wc) == -1 &&
                     ibv_req_notify_cq(end.id->send_cq, 0) == ENODEV &&
                     ibv_query_qp(end.id->qp, &attributes, 0, &init) == ENODEV &&
                     ibv_modify_qp(end.id->qp, &attributes, IBV_QP_STATE) == ENODEV &&
                     ibv_alloc_pd(end.id->verbs) == nullptr && errno == ENODEV &&
                     rdma_disconnect(end.id) == -1 && errno == ENODEV;
            }),
            0);
  pair.expect_alive();
}

TEST(Fork, DestroyingThemInTheChildHarmsNobody) {
  Pair pair;
  EXPECT_EQ(status_of_child([&pair] {
              rdma_disconnect(pair.client.id);
              rdma_destroy_ep(pair.client.id);
              rdma_destroy_ep(pair.server.id);
              return rdma_destroy_id(pair.listener) == 0;
            }),
            0);
  pair.expect_alive();
}

TEST(Fork, ChildMayHaveConnectionsOfItsOwn) {
  if (test::kSanitizer) GTEST_SKIP() << iwarp::test::kNoThreadsInChildren;
  Pair pair;
  EXPECT_EQ(status_of_child([] {
              Pair own;
              own.expect_alive();
              return !testing::Test::HasFailure();
            }),
            0);
  pair.expect_alive();
}

// The port is the parent's to give up, whatever its child has inherited.
TEST(Fork, ChildKeepsNoPortOfItsParent) {
  rdma_cm_id *first = nullptr, *second = nullptr;
  sockaddr_in at = loopback();
  must(rdma_create_id(nullptr, &first, nullptr, RDMA_PS_TCP), "rdma_create_id");
  must(rdma_create_id(nullptr, &second, nullptr, RDMA_PS_TCP), "rdma_create_id");
  must(rdma_bind_addr(first, plain(at)), "rdma_bind_addr");
  at.sin_port = rdma_get_src_port(first);
  test::Pipe lives, runs;
  const pid_t child = test::fork_for();
  if (child == 0) {
    runs.write(true);  // fork() has come back
    lives.close_writer();
    static_cast<void>(lives.read_all());
    ::_exit(0);
  }
  EXPECT_TRUE(runs.read<bool>());
  EXPECT_EQ(rdma_destroy_id(first), 0);
  EXPECT_EQ(rdma_bind_addr(second, plain(at)), 0) << std::strerror(errno);
  lives.close_writer();
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(rdma_destroy_id(second), 0);
}

}  // namespace
}  // namespace iwarp::compat_test
