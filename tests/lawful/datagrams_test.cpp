#include <memory>

#include "lawful/ids.hpp"
#include "lawful/without_cm.hpp"

// Datagrams, which iWARP has not: programs learn it where they print why, from the errno of the
// call that needs them. rdma_create_id() and the kernel's ucma_create_id() give an id for each port
// space; siw's siw_create_qp() knows reliable connections only.
namespace iwarp::lawful {
namespace {

class Datagrams : public testing::TestWithParam<rdma_port_space> {
 protected:
  void SetUp() override {
    rdma_cm_id* made = nullptr;
    must(rdma_create_id(nullptr, &made, nullptr, GetParam()), "rdma_create_id");
    id_ = std::make_unique<Id>(made);
  }

  std::unique_ptr<Id> id_;
};

TEST_P(Datagrams, IdFindsItsDeviceAndGetsNoQueuePair) {
  rdma_cm_id* const id = id_->get();
  EXPECT_EQ(id->qp_type, IBV_QPT_UD);
  SocketAddress there = address(here(), 7471);
  ASSERT_EQ(rdma_resolve_addr(id, nullptr, there.plain(), 2000), 0);
  ASSERT_EQ(rdma_resolve_route(id, 2000), 0);
  ASSERT_NE(id->verbs, nullptr);
  ibv_qp_init_attr attributes{};
  attributes.qp_type = IBV_QPT_UD;
  attributes.cap = {1, 1, 1, 1, 0};
  EXPECT_EQ(rdma_create_qp(id, nullptr, &attributes), -1);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(id->qp, nullptr);
  EXPECT_EQ(rdma_connect(id, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_P(Datagrams, NobodyListensForThem) {
  SocketAddress here = address("127.0.0.1");
  ASSERT_EQ(rdma_bind_addr(id_->get(), here.plain()), 0);
  EXPECT_EQ(rdma_listen(id_->get(), 1), -1);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

INSTANTIATE_TEST_SUITE_P(PortSpaces, Datagrams, testing::Values(RDMA_PS_UDP, RDMA_PS_IPOIB));

TEST(PortSpaces, UnknownOneIsInvalid) {
  rdma_cm_id* made = nullptr;
  EXPECT_EQ(rdma_create_id(nullptr, &made, nullptr, static_cast<rdma_port_space>(0x0110)), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(made, nullptr);
}

// librdmacm's ucma_convert_to_rai(): what the hints leave open follows from the other.
TEST(PortSpaces, HintsNeedToSayOneThingOnly) {
  struct Line {
    int space, type, found_space, found_type;
  };
  constexpr Line kLines[] = {{0, 0, RDMA_PS_TCP, IBV_QPT_RC},
                             {RDMA_PS_UDP, 0, RDMA_PS_UDP, IBV_QPT_UD},
                             {RDMA_PS_IPOIB, 0, RDMA_PS_IPOIB, IBV_QPT_UD},
                             {0, IBV_QPT_UD, RDMA_PS_UDP, IBV_QPT_UD},
                             {RDMA_PS_IB, IBV_QPT_UD, RDMA_PS_IB, IBV_QPT_UD}};
  for (const Line& line : kLines) {
    rdma_addrinfo hints{};
    hints.ai_port_space = line.space;
    hints.ai_qp_type = line.type;
    rdma_addrinfo* found = nullptr;
    ASSERT_EQ(rdma_getaddrinfo("127.0.0.1", "7471", &hints, &found), 0);
    EXPECT_EQ(found->ai_port_space, line.found_space);
    EXPECT_EQ(found->ai_qp_type, line.found_type);
    rdma_freeaddrinfo(found);
  }
}

}  // namespace
}  // namespace iwarp::lawful
