#include "lawful/without_cm.hpp"

// ibv_alloc_parent_domain(3) and ibv_alloc_td(3); what is refused while it is in use is as in
// rdma-core's mlx5 (mlx5_dealloc_td(), mlx5_dealloc_parent_domain()).
namespace iwarp::lawful {
namespace {

class ParentDomain : public testing::Test {
 protected:
  ibv_pd* make(ibv_td* td = nullptr, std::uint32_t mask = 0) {
    ibv_parent_domain_init_attr attributes{};
    attributes.pd = device.pd;
    attributes.td = td;
    attributes.comp_mask = mask;
    return ibv_alloc_parent_domain(device.context, &attributes);
  }

  Device device;
};

TEST_F(ParentDomain, KeepsItsProtectionDomainAndItsThreadDomain) {
  ibv_td_init_attr none{};
  ibv_td* const td = must(ibv_alloc_td(device.context, &none), "ibv_alloc_td");
  ibv_pd* const parent = must(make(td), "ibv_alloc_parent_domain");
  EXPECT_EQ(parent->context, device.context);
  EXPECT_EQ(ibv_dealloc_td(td), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(device.pd), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
  EXPECT_EQ(ibv_dealloc_td(td), 0);
}

TEST_F(ParentDomain, IsKeptByWhatWasMadeInIt) {
  ibv_pd* const parent = must(make(), "ibv_alloc_parent_domain");
  std::array<char, 8> memory{};
  ibv_mr* const mr = must(ibv_reg_mr(parent, memory.data(), memory.size(), 0), "ibv_reg_mr");
  EXPECT_EQ(mr->pd, parent);
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = 8;
  wanted.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
  wanted.parent_domain = parent;
  wanted.flags = ~0U;  // of which the mask says nothing
  ibv_cq_ex* const cq = must(ibv_create_cq_ex(device.context, &wanted), "ibv_create_cq_ex");
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
}

TEST_F(ParentDomain, IsTheSameAsItsProtectionDomain) {
  EndWithoutCm client(device, kAllRights);
  ibv_pd* const parent = must(make(), "ibv_alloc_parent_domain");
  {
    EndWithoutCm server(device, kAllRights);
    ibv_mr* const mr = must(
        ibv_reg_mr(parent, server.memory.data(), server.memory.size(), kAllRights), "ibv_reg_mr");
    client.connect_to(server, kAllRights);
    server.connect_to(client, kAllRights);
    ASSERT_EQ(client.post(IBV_WR_RDMA_READ, server.address(), mr->rkey), 0);
    EXPECT_EQ(completion_of(client.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
  }
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
}

TEST_F(ParentDomain, IsRefusedIfItsAttributesAreNotKnown) {
  errno = 0;
  EXPECT_EQ(make(nullptr, 1U << 30U), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_parent_domain_init_attr of_nothing{};
  errno = 0;
  EXPECT_EQ(ibv_alloc_parent_domain(device.context, &of_nothing), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_td_init_attr unknown{};
  unknown.comp_mask = 1;
  errno = 0;
  EXPECT_EQ(ibv_alloc_td(device.context, &unknown), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = 8;
  wanted.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
  wanted.parent_domain = device.pd;
  errno = 0;
  EXPECT_EQ(ibv_create_cq_ex(device.context, &wanted), nullptr) << "it is no parent domain";
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace iwarp::lawful
