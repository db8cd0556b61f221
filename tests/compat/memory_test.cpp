#include <signal.h>

#include "compat/pair.hpp"
#include "support/vanishing_memory.hpp"

// Memory that may not be touched, or that goes away after its registration.
namespace iwarp::compat_test {
namespace {

using test::kLosses;
using test::Loss;
using test::name_of;
using test::VanishingMemory;

constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
                           IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

// 0, or the errno of a registration that fails.
int registers(ibv_pd* pd, const VanishingMemory& memory, unsigned access) {
  errno = 0;
  ibv_mr* const mr = ibv_reg_mr(pd, memory.data(), memory.size(), access);
  const int error = mr == nullptr ? errno : 0;
  if (mr != nullptr) ibv_dereg_mr(mr);
  return error;
}

TEST(Memory, ThatMayNotBeTouchedIsNotRegistered) {
  const Pair pair;
  ibv_pd* const pd = pair.client.id->pd;
  for (const std::size_t pages : {std::size_t{2}, std::size_t{600}}) {
    for (const Loss loss : kLosses) {
      SCOPED_TRACE(name_of(loss));
      const VanishingMemory memory(pages);
      EXPECT_EQ(registers(pd, memory, kAllAccess), 0);
      memory.lose(loss, pages - 1);
      const int reading = loss == Loss::kReadOnly ? 0 : EFAULT;
      EXPECT_EQ(registers(pd, memory, 0), reading);
      EXPECT_EQ(registers(pd, memory, IBV_ACCESS_REMOTE_READ), reading);
      EXPECT_EQ(registers(pd, memory, IBV_ACCESS_LOCAL_WRITE), EFAULT);
      EXPECT_EQ(registers(pd, memory, IBV_ACCESS_MW_BIND), EFAULT);
      EXPECT_EQ(registers(pd, memory, kAllAccess), EFAULT);
    }
  }
}

TEST(Memory, ThatMayNotBeTouchedIsNotRegisteredAtAnotherAddressEither) {
  const Pair pair;
  const VanishingMemory memory(2);
  memory.lose(Loss::kReadOnly, 1);
  errno = 0;
  EXPECT_EQ(ibv_reg_mr_iova(pair.client.id->pd, memory.data(), memory.size(), 4096,
                            IBV_ACCESS_LOCAL_WRITE),
            nullptr);
  EXPECT_EQ(errno, EFAULT);
}

TEST(Memory, ThatMayNotBeTouchedDoesNotReplaceARegion) {
  const Pair pair;
  const VanishingMemory memory(2), other(2);
  other.lose(Loss::kReadOnly);
  ibv_mr* const mr =
      must(ibv_reg_mr(pair.client.id->pd, memory.data(), memory.size(), kAllAccess), "ibv_reg_mr");
  const std::uint32_t key = mr->rkey;
  EXPECT_EQ(
      ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, other.data(), other.size(), 0),
      IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(mr->addr, memory.data());
  EXPECT_EQ(mr->rkey, key);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

// A registration cache unmaps memory before it deregisters it: here that ends the connection.
class LostMemory : public testing::TestWithParam<Loss> {
 protected:
  void register_at(End& end) {
    mr = must(ibv_reg_mr(end.id->pd, memory.data(), memory.size(), kAllAccess), "ibv_reg_mr");
    memory.lose(GetParam());
  }
  ~LostMemory() override {
    if (mr != nullptr) ibv_dereg_mr(mr);
  }
  [[nodiscard]] ibv_sge sge() const {
    return {reinterpret_cast<std::uintptr_t>(memory.data()),
            static_cast<std::uint32_t>(memory.size()), mr->lkey};
  }
  int post_write(End& from, ibv_sge sge, const void* to, std::uint32_t rkey) {
    ibv_send_wr request{}, *bad = nullptr;
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.wr.rdma = {reinterpret_cast<std::uintptr_t>(to), rkey};
    return ibv_post_send(from.id->qp, &request, &bad);
  }

  Pair pair, other;
  VanishingMemory memory{16};
  ibv_mr* mr = nullptr;
};

TEST_P(LostMemory, OfAPeersWriteEndsThatConnectionOnly) {
  register_at(pair.server);
  ASSERT_EQ(post_write(pair.client, pair.client.sge(), memory.data(), mr->rkey), 0);
  EXPECT_EQ(completion_of(pair.server.id->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
  other.expect_alive();
}

class UnreadableMemory : public LostMemory {};
TEST_P(UnreadableMemory, OfASendEndsThatRequestAndItsConnectionOnly) {
  register_at(pair.client);
  ASSERT_EQ(pair.client.post_send(1, sge()), 0);
  EXPECT_EQ(completion_of(pair.client.id->send_cq).status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(completion_of(pair.server.id->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
  other.expect_alive();
}

TEST_P(LostMemory, OfAReceiveEndsThatReceiveAndItsConnectionOnly) {
  pair.expect_alive();  // that was the receive of the pair's own
  ASSERT_EQ(pair.client.post_send(7, pair.client.sge()), 0);
  EXPECT_EQ(completion_of(pair.server.id->recv_cq).status, IBV_WC_SUCCESS);
  register_at(pair.server);
  ibv_sge to = sge();
  ibv_recv_wr request{}, *bad = nullptr;
  request.sg_list = &to;
  request.num_sge = 1;
  ASSERT_EQ(ibv_post_recv(pair.server.id->qp, &request, &bad), 0);
  ASSERT_EQ(pair.client.post_send(8, pair.client.sge()), 0);
  EXPECT_EQ(completion_of(pair.server.id->recv_cq).status, IBV_WC_LOC_PROT_ERR);
  other.expect_alive();
}

std::string name_of_case(const testing::TestParamInfo<Loss>& of) {
  std::string name = name_of(of.param);
  std::erase(name, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(HoweverItWent, LostMemory, testing::ValuesIn(kLosses), name_of_case);
// A Send reads: of memory that has become read-only it knows nothing.
INSTANTIATE_TEST_SUITE_P(HoweverItWent, UnreadableMemory,
                         testing::Values(Loss::kUnmapped, Loss::kNoAccess, Loss::kTruncated),
                         name_of_case);

// ---- Signals ----

std::byte* volatile nowhere = reinterpret_cast<std::byte*>(64);
void exit_with_42(int) { std::_Exit(42); }

class MemoryDeathTest : public testing::Test {
 protected:
  MemoryDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(MemoryDeathTest, OwnFaultOfAProgramEndsItAsUsual) {
  const auto run = [] {
    ::signal(SIGSEGV, SIG_DFL);
    const Pair pair;
    *nowhere = std::byte{1};
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(MemoryDeathTest, OwnFaultOfAProgramReachesItsHandler) {
  const auto run = [] {
    ::signal(SIGSEGV, exit_with_42);
    const Pair pair;
    *nowhere = std::byte{1};
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace iwarp::compat_test
