#include "support/rdmap_fixture.hpp"

// Fields that a message has but does not use.
namespace iwarp::test {
namespace {

class ReceiverIgnores : public ReceiverTest {
 protected:
  // A message whose Invalidate STag field names a region that a peer might invalidate.
  Outcome take_naming(Opcode opcode, ConstBytes payload) {
    auto header = untagged(opcode, 1);
    header.rsvd_ulp_word = open.stag.value();
    return take(segment(header, payload));
  }
  bool in_force(const Region& region) {
    return endpoint.stags.pin(region.stag, kPd, ddp::Rights::kNone, region.base, 1).has_value();
  }
  Region& open = endpoint.enable(16, ddp::Rights::kRemoteInvalidate);
};

TEST_F(ReceiverIgnores, TheInvalidateStagOfASend) {  // RFC 5040 §4.1
  post_receive(11);
  const auto sent = event_of<rdmap::SendDelivered>(take_naming(Opcode::kSend, pattern(4)));
  EXPECT_EQ(sent.invalidated, std::nullopt);
  EXPECT_TRUE(in_force(open));
}

TEST_F(ReceiverIgnores, TheInvalidateStagOfASendWithSolicitedEvent) {
  post_receive(11);
  const auto sent = event_of<rdmap::SendDelivered>(take_naming(Opcode::kSendSolicited, pattern(4)));
  EXPECT_EQ(sent.invalidated, std::nullopt);
  EXPECT_TRUE(in_force(open));
}

TEST_F(ReceiverIgnores, TheInvalidateStagOfAReadRequest) {
  const rdmap::ReadRequest request{Stag{1}, TaggedOffset{2}, 4, exposed.stag, exposed.base};
  event_of<rdmap::ReadRequestDelivered>(take_naming(Opcode::kReadRequest, encoded(request)));
  EXPECT_TRUE(in_force(open));
}

TEST_F(ReceiverIgnores, TheInvalidateStagOfATerminate) {
  rdmap::Terminate message;
  message.cause = {Layer::kDdp, 2, 0x02};
  const auto came = event_of<rdmap::Terminate>(take_naming(Opcode::kTerminate, encoded(message)));
  EXPECT_EQ(came.cause, message.cause);
  EXPECT_TRUE(in_force(open));
}

}  // namespace
}  // namespace iwarp::test
