#include "lawful/without_cm.hpp"

// Which of a peer's requests a queue pair lets through (ibv_modify_qp(3), qp_access_flags), and
// what a memory window opens (ibv_bind_mw(3)).
namespace iwarp::lawful {
namespace {

struct Denied {
  const char* name;
  ibv_wr_opcode opcode;
  unsigned right;
};

class QueuePairRights : public testing::TestWithParam<Denied> {
 protected:
  int post(PairWithoutCm& pair) {
    return pair.client.post(GetParam().opcode, pair.server.address(), pair.server.mr->rkey);
  }
};

// A Write is complete when TCP has it: only the end of the connection tells. Of the others the
// answer does, as in test_atomic_invalid_qp_access of rdma-core.
TEST_P(QueuePairRights, StopWhatTheRegionWouldAllow) {
  PairWithoutCm pair(kAllRights, kAllRights & ~GetParam().right);
  pair.client.memory.fill('c');
  ASSERT_EQ(post(pair), 0);
  if (GetParam().opcode != IBV_WR_RDMA_WRITE) {
    EXPECT_EQ(completion_of(pair.client.cq).status, IBV_WC_REM_ACCESS_ERR);
  }
  EXPECT_TRUE(eventually([&] {
    ibv_qp_attr now{};
    ibv_qp_init_attr unused{};
    return ibv_query_qp(pair.client.qp, &now, IBV_QP_STATE, &unused) == 0 &&
           now.qp_state == IBV_QPS_ERR;
  }));
  EXPECT_EQ(pair.server.memory, decltype(pair.server.memory){});
}

TEST_P(QueuePairRights, AreThereIfTheyWereGiven) {
  PairWithoutCm pair(kAllRights, IBV_ACCESS_LOCAL_WRITE | GetParam().right);
  ASSERT_EQ(post(pair), 0);
  EXPECT_EQ(completion_of(pair.client.cq).status, IBV_WC_SUCCESS);
}

TEST_P(QueuePairRights, MayComeAndGoWhileItIsConnected) {
  PairWithoutCm pair(kAllRights, IBV_ACCESS_LOCAL_WRITE);
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTS;
  to.qp_access_flags = GetParam().right;
  ASSERT_EQ(ibv_modify_qp(pair.server.qp, &to, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS), 0);
  ASSERT_EQ(post(pair), 0);
  EXPECT_EQ(completion_of(pair.client.cq).status, IBV_WC_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(
    Of, QueuePairRights,
    testing::Values(Denied{"Write", IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE},
                    Denied{"Read", IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ},
                    Denied{"Atomic", IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC}),
    [](const testing::TestParamInfo<Denied>& of) { return of.param.name; });

// ---- Windows ----

class Window : public testing::Test {
 protected:
  ~Window() override {
    if (mw != nullptr) ibv_dealloc_mw(mw);
  }
  ibv_mw_bind_info whole(unsigned access) {
    return {pair.server.mr, pair.server.address(), pair.server.memory.size(), access};
  }
  // The word of the server that the window is to make reachable.
  void expect_writable(std::uint32_t rkey) {
    pair.client.memory.fill('w');
    ASSERT_EQ(pair.client.post(IBV_WR_RDMA_WRITE, pair.server.address(), rkey), 0);
    EXPECT_EQ(completion_of(pair.client.cq).status, IBV_WC_SUCCESS);
    const volatile char& first = pair.server.memory[0];
    EXPECT_TRUE(eventually([&] { return first == 'w'; }));
  }

  PairWithoutCm pair{IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND};
  ibv_mw* mw = nullptr;
};

// Providers leave IBV_ACCESS_LOCAL_WRITE of mw_access_flags alone: rdma-core's tests have it there.
TEST_F(Window, OfTypeOneMayBeBoundWithTheFlagsOfARegion) {
  mw = must(ibv_alloc_mw(pair.device.pd, IBV_MW_TYPE_1), "ibv_alloc_mw");
  ibv_mw_bind bind{};
  bind.send_flags = IBV_SEND_SIGNALED;
  bind.bind_info = whole(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  ASSERT_EQ(ibv_bind_mw(pair.server.qp, mw, &bind), 0);
  EXPECT_EQ(completion_of(pair.server.cq).status, IBV_WC_SUCCESS);
  expect_writable(mw->rkey);
}

TEST_F(Window, OfTypeTwoMayBeBoundWithTheFlagsOfARegion) {
  mw = must(ibv_alloc_mw(pair.device.pd, IBV_MW_TYPE_2), "ibv_alloc_mw");
  ibv_send_wr request{}, *bad = nullptr;
  request.opcode = IBV_WR_BIND_MW;
  request.send_flags = IBV_SEND_SIGNALED;
  request.bind_mw.mw = mw;
  request.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
  request.bind_mw.bind_info = whole(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  ASSERT_EQ(ibv_post_send(pair.server.qp, &request, &bad), 0);
  EXPECT_EQ(completion_of(pair.server.cq).status, IBV_WC_SUCCESS);
  expect_writable(request.bind_mw.rkey);
}

// ---- Regions ----

// The kernel's drivers change a region in place (rxe_rereg_user_mr(), irdma_rereg_user_mr()): a
// peer that knows its key goes on with it.
TEST(Region, KeepsItsKeysWhenItsRightsChange) {
  PairWithoutCm pair(IBV_ACCESS_LOCAL_WRITE);
  ibv_mr* const mr = pair.server.mr;
  const std::uint32_t key = mr->rkey;
  ASSERT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ),
            0);
  EXPECT_EQ(mr->rkey, key);
  pair.server.memory.fill('r');
  ASSERT_EQ(pair.client.post(IBV_WR_RDMA_READ, pair.server.address(), key), 0);
  EXPECT_EQ(completion_of(pair.client.cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(pair.client.memory[0], 'r');
  ASSERT_EQ(
      ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE), 0);
  ASSERT_EQ(pair.client.post(IBV_WR_RDMA_READ, pair.server.address(), key), 0);
  EXPECT_EQ(completion_of(pair.client.cq).status, IBV_WC_REM_ACCESS_ERR);
}

TEST(Region, KeepsItsKeysInAnotherProtectionDomain) {
  PairWithoutCm pair;
  ibv_mr* const mr = pair.server.mr;
  const std::uint32_t key = mr->rkey;
  ibv_pd* const other = must(ibv_alloc_pd(pair.device.context), "ibv_alloc_pd");
  for (ibv_pd* const to : {other, pair.device.pd}) {
    ASSERT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, to, nullptr, 0, 0), 0);
    EXPECT_EQ(mr->rkey, key);
    EXPECT_EQ(mr->pd, to);
  }
  EXPECT_EQ(ibv_dealloc_pd(other), 0);
  ASSERT_EQ(pair.client.post(IBV_WR_RDMA_READ, pair.server.address(), key), 0);
  EXPECT_EQ(completion_of(pair.client.cq).status, IBV_WC_SUCCESS);
}

// verbs.c tells what is wrong with the arguments (ERR_INPUT) from what the device refuses
// (ERR_CMD).
TEST(Region, ArgumentsThatContradictEachOtherChangeNothing) {
  const Device device;
  std::array<char, 64> memory{};
  ibv_mr* const mr = must(ibv_reg_mr(device.pd, memory.data(), 32, 0), "ibv_reg_mr");
  const auto change = [&](int what, std::size_t length, int access) {
    errno = 0;
    const int result = ibv_rereg_mr(mr, what, device.pd, &memory[32], length, access);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(mr->addr, memory.data());
    EXPECT_EQ(mr->length, 32U);
    return result;
  };
  constexpr int kMoves = IBV_REREG_MR_CHANGE_TRANSLATION;
  EXPECT_EQ(change(kMoves, 0, 0), IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(change(kMoves, 32, IBV_ACCESS_REMOTE_READ), IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(change(1 << 10, 32, 0), IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(change(0, 32, 0), IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

// ib_umem_get(): the addresses end before the region does.
TEST(Region, ThatWrapsAroundIsRefused) {
  const Device device;
  std::array<char, 64> memory{};
  EXPECT_EQ(ibv_reg_mr(device.pd, memory.data(), SIZE_MAX, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace iwarp::lawful
