#include "lawful/without_cm.hpp"

// What a device and a fresh queue pair say of themselves.
namespace iwarp::lawful {
namespace {

// ib_core's ib_query_gid_table() says EINVAL if there are more than fit.
TEST(Queries, GidTableFitsAsAWholeOrNotAtAll) {
  const Device device;
  ibv_port_attr port{};
  ASSERT_EQ(ibv_query_port(device.context, 1, &port), 0);
  const auto all = static_cast<std::size_t>(port.gid_tbl_len);
  ASSERT_GT(all, 0U);
  std::vector<ibv_gid_entry> entries(all + 1);
  EXPECT_EQ(ibv_query_gid_table(device.context, entries.data(), all, 0), port.gid_tbl_len);
  EXPECT_EQ(ibv_query_gid_table(device.context, entries.data(), all + 1, 0), port.gid_tbl_len);
  EXPECT_EQ(ibv_query_gid_table(device.context, entries.data(), all - 1, 0), -EINVAL);
  EXPECT_EQ(ibv_query_gid_table(device.context, entries.data(), 0, 0), -EINVAL);
}

TEST(Queries, DeviceHasAVendor) {
  const Device device;
  ibv_device_attr attributes{};
  ASSERT_EQ(ibv_query_device(device.context, &attributes), 0);
  EXPECT_NE(attributes.vendor_id, 0U);
  EXPECT_EQ(attributes.vendor_id >> 24U, 0U) << "it is an OUI";
}

// siw_query_qp() says INIT of an idle queue pair; rdma-core's tests expect that of every iWARP
// device.
TEST(Queries, FreshQueuePairIsIdle) {
  Device device;
  const EndWithoutCm end(device, 0);
  ibv_qp_attr now{};
  ibv_qp_init_attr unused{};
  ASSERT_EQ(ibv_query_qp(end.qp, &now, IBV_QP_STATE, &unused), 0);
  EXPECT_EQ(now.qp_state, IBV_QPS_INIT);
  EXPECT_EQ(now.cur_qp_state, IBV_QPS_INIT);
  now.port_num = 1;
  for (const ibv_qp_state said : {IBV_QPS_INIT, IBV_QPS_RESET}) {
    now.cur_qp_state = said;
    EXPECT_EQ(ibv_modify_qp(end.qp, &now, IBV_QP_CUR_STATE), 0);
  }
  EXPECT_EQ(ibv_modify_qp(end.qp, &now, IBV_QP_STATE | IBV_QP_PORT), 0);
  now.cur_qp_state = IBV_QPS_RTS;
  EXPECT_EQ(ibv_modify_qp(end.qp, &now, IBV_QP_CUR_STATE), EINVAL);
}

}  // namespace
}  // namespace iwarp::lawful
