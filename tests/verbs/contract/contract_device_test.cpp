// What every device promises of its attributes.
#include <algorithm>

#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

class DeviceContract : public Contract {
 protected:
  const DeviceAttributes& attributes = world->client().attributes();
};
IWARP_IN_EVERY_WORLD(DeviceContract);

TEST_P(DeviceContract, HasANameAndAProvider) {
  EXPECT_FALSE(attributes.name.empty());
  EXPECT_FALSE(attributes.provider.empty());
  EXPECT_EQ(&world->client().attributes(), &attributes) << "valid as long as the device";
}

TEST_P(DeviceContract, EachLimitThatNothingWorksWithoutIsMoreThanZero) {
  EXPECT_GT(attributes.max_qp, 1U);
  EXPECT_GT(attributes.max_cq, 1U);
  EXPECT_GT(attributes.max_mr, 1U);
  EXPECT_GT(attributes.max_pd, 0U);
  EXPECT_GT(attributes.max_qp_wr, 0U);
  EXPECT_GT(attributes.max_sge, 0U);
  EXPECT_GT(attributes.max_cqe, 0U);
  EXPECT_GT(attributes.max_ird, 0U);
  EXPECT_GT(attributes.max_ord, 0U);
  EXPECT_GT(attributes.max_mr_size, 0U);
  EXPECT_GT(attributes.max_private_data, 0U);
}

TEST_P(DeviceContract, DefaultsAreWithinItsLimits) {
  const QpCapacity usual;
  EXPECT_GE(attributes.max_qp_wr, usual.max_send_wr);
  EXPECT_GE(attributes.max_qp_wr, usual.max_recv_wr);
  EXPECT_GE(attributes.max_cqe, usual.max_send_wr + usual.max_recv_wr);
  EXPECT_TRUE(client.pd->create_qp(*client.send_cq, *client.recv_cq));
}

TEST_P(DeviceContract, TellsWhatItOffers) {
  EXPECT_EQ(attributes.rfc7306, can(Capability::kAtomics) || can(Capability::kImmediate));
  EXPECT_EQ(attributes.max_mw != 0, can(Capability::kWindows));
  EXPECT_EQ(attributes.max_srq != 0, can(Capability::kSharedReceive));
  EXPECT_EQ(attributes.max_srq_wr != 0, can(Capability::kSharedReceive));
}

TEST_P(DeviceContract, OffersNoMorePrivateDataThanAFrameHasRoomFor) {
  EXPECT_LE(attributes.max_private_data, 508U);
  EXPECT_EQ(attributes.max_private_data == 508U, can(Capability::kPrivateData508));
}

TEST_P(DeviceContract, ItsNameOpensIt) {
  IWARP_NEEDS(Capability::kOpenedByName);
  const auto names = device_names();
  EXPECT_NE(std::find(names.begin(), names.end(), attributes.name), names.end());
  const auto again = Device::open(attributes.name);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->attributes().name, attributes.name);
  EXPECT_EQ(again->attributes().provider, attributes.provider);
}

TEST_P(DeviceContract, NoOtherNameOpensAnything) {
  IWARP_NEEDS(Capability::kOpenedByName);
  const auto none = Device::open("no device has this name");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, std::errc::no_such_device);
  EXPECT_NE(none.error().message.find("no device has this name"), std::string::npos);
}

TEST_P(DeviceContract, HasNoEventToTellWhenNothingHasHappened) {
  EXPECT_FALSE(world->client().wait_async_event(std::chrono::milliseconds(0)));
}

}  // namespace
}  // namespace iwarp::verbs::contract
