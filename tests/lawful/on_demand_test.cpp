#include <sys/mman.h>
#include <unistd.h>

#include "lawful/without_cm.hpp"

// Memory that is paged in on demand: ibv_reg_mr(3) with IBV_ACCESS_ON_DEMAND, ibv_advise_mr(3).
namespace iwarp::lawful {
namespace {

// Pages at which there is nothing, until they are mapped.
struct Place {
  std::size_t size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) * 4;
  void* at = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { ::munmap(at, size); }
  void map(char fill) const {
    must(::mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
         "mmap");
    std::memset(at, fill, size);
  }
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(at); }
};

class OnDemand : public testing::Test {
 protected:
  ~OnDemand() override {
    if (mr != nullptr) ibv_dereg_mr(mr);
  }
  void expect_read(char what) {
    pair.client.memory.fill('-');
    ASSERT_EQ(pair.client.post(IBV_WR_RDMA_READ, place.address(), mr->rkey), 0);
    EXPECT_EQ(completion_of(pair.client.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(pair.client.memory[7], what);
  }
  int advise(ibv_advise_mr_advice advice, ibv_sge part, std::uint32_t flags = 0) {
    return ibv_advise_mr(pair.device.pd, advice, flags, &part, 1);
  }
  ibv_sge all() { return {place.address(), static_cast<std::uint32_t>(place.size), mr->lkey}; }

  static constexpr unsigned kRights = IBV_ACCESS_ON_DEMAND | kAllRights;
  PairWithoutCm pair;
  Place place;
  ibv_mr* mr = nullptr;
};

TEST_F(OnDemand, DeviceOffersIt) {
  ibv_device_attr_ex attributes{};
  ASSERT_EQ(ibv_query_device_ex(pair.device.context, nullptr, &attributes), 0);
  const auto& caps = attributes.odp_caps;
  EXPECT_EQ(caps.general_caps, std::uint64_t{IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT});
  EXPECT_NE(caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_ATOMIC, 0U);
  EXPECT_EQ(caps.per_transport_caps.ud_odp_caps, 0U);
}

TEST_F(OnDemand, MemoryMayComeAndChangeBehindItsRegistration) {
  mr = must(ibv_reg_mr(pair.device.pd, place.at, place.size, kRights), "ibv_reg_mr");
  place.map('a');
  expect_read('a');
  place.map('b');
  expect_read('b');
}

TEST_F(OnDemand, WithoutItMemoryHasToBeThere) {
  mr = ibv_reg_mr(pair.device.pd, place.at, place.size, kAllRights);
  EXPECT_EQ(mr, nullptr);
  EXPECT_EQ(errno, EFAULT);
}

TEST_F(OnDemand, AllMemoryCanBeRegisteredAtOnce) {
  mr = must(ibv_reg_mr(pair.device.pd, nullptr, SIZE_MAX, kRights), "ibv_reg_mr");
  EXPECT_EQ(mr->addr, nullptr);
  EXPECT_EQ(mr->length, SIZE_MAX);
  place.map('a');
  expect_read('a');
  ASSERT_EQ(pair.client.post(IBV_WR_RDMA_READ, ~std::uint64_t{4095}, mr->rkey), 0);
  EXPECT_EQ(completion_of(pair.client.cq).status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(OnDemand, MemoryThatIsNotThereEndsTheConnectionOnly) {
  mr = must(ibv_reg_mr(pair.device.pd, nullptr, SIZE_MAX, kRights), "ibv_reg_mr");
  ASSERT_EQ(pair.client.post(IBV_WR_RDMA_READ, 8, mr->rkey), 0);
  EXPECT_NE(completion_of(pair.client.cq).status, IBV_WC_SUCCESS);
}

TEST_F(OnDemand, AdviceBringsMemory) {
  mr = must(ibv_reg_mr(pair.device.pd, place.at, place.size, kRights), "ibv_reg_mr");
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, all()), EFAULT) << "nothing is there";
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, all()), 0);
  must(::mmap(place.at, place.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
              -1, 0),
       "mmap");
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, all(), IBV_ADVISE_MR_FLAG_FLUSH), 0);
  std::array<unsigned char, 4> there{};
  ASSERT_EQ(::mincore(place.at, place.size, there.data()), 0);
  EXPECT_EQ(there[3] & 1U, 1U);
}

TEST_F(OnDemand, AdviceNamesWhatIsWrongWithIt) {
  place.map('a');
  mr = must(ibv_reg_mr(pair.device.pd, place.at, place.size, IBV_ACCESS_ON_DEMAND), "ibv_reg_mr");
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, all()), 0);
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, all()), EPERM);
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, all(), 2), EINVAL);
  EXPECT_EQ(advise(static_cast<ibv_advise_mr_advice>(3), all()), ENOTSUP);
  ibv_sge part = all();
  part.length += 1;
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, part), EFAULT);
  part.lkey = 0;
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, part), ENOENT);
  EXPECT_EQ(ibv_advise_mr(pair.device.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &part, 0), EINVAL);
}

}  // namespace
}  // namespace iwarp::lawful
