#include "shared/stats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "iwarp/verbs/verbs.hpp"

namespace iwarp::compat {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

verbs::Endpoint endpoint(const char* address, std::uint16_t port) {
  return {verbs::Address::parse(address).value(), port};
}

ConnectionStats busy_connection() {
  ConnectionStats stats;
  stats.queue_pair = 7;
  stats.local = endpoint("127.0.0.1", 40000);
  stats.remote = endpoint("::1", 7174);
  stats.counters.sends = 2;
  stats.counters.reads = 1;
  stats.counters.peer_writes = 3;
  stats.counters.fpdus_sent = 9;
  stats.counters.octets_sent = 1234;
  stats.counters.fpdus_received = 1;
  stats.counters.octets_received = 56;
  return stats;
}

TEST(ConnectionStats, NameBothEndsAndWhatWasDone) {
  const std::string text = describe(busy_connection());
  EXPECT_THAT(text, HasSubstr("connection from 127.0.0.1:40000 to [::1]:7174 (queue pair 7)\n"));
  EXPECT_THAT(text, HasSubstr("2 Sends, 1 Read; the peer 3 Writes\n"));
  EXPECT_THAT(text, HasSubstr("9 FPDUs, 1234 octets; received 1 FPDU, 56 octets\n"));
  EXPECT_THAT(text, HasSubstr("Terminates  none\n"));
  EXPECT_THAT(text, HasSubstr("nothing has ended it\n"));
}

TEST(ConnectionStats, TellTerminatesOfBothDirectionsApart) {
  ConnectionStats stats = busy_connection();
  stats.sent = verbs::TerminateInfo{1, 2, 0x03, {}};
  EXPECT_THAT(describe(stats), HasSubstr("Terminates  sent 1/2/0x03\n"));
  stats.received = verbs::TerminateInfo{0, 1, 0xff, {}};
  EXPECT_THAT(describe(stats), HasSubstr("Terminates  sent 1/2/0x03, received 0/1/0xff\n"));
  stats.sent.reset();
  EXPECT_THAT(describe(stats), HasSubstr("Terminates  received 0/1/0xff\n"));
}

TEST(ConnectionStats, SayThatNothingWasDone) {
  ConnectionStats stats;
  stats.diagnosis.by = verbs::EndedBy::kPeerReject;
  stats.diagnosis.sentence = "the peer rejected the connection";
  EXPECT_THAT(describe(stats),
              AllOf(HasSubstr("not established"), HasSubstr("nothing; the peer nothing"),
                    HasSubstr("the peer rejected the connection")));
}

/// A queue pair of the software provider that is not connected, but of which an event tells so.
class QpStatsTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("IWARP_STATS", "1", 1);
    provider_ = *verbs::provider::open_software();
    verbs::provider::QpInit init;
    init.send_cq = init.recv_cq = *provider_->create_cq(4);
    qp_ = *provider_->create_qp(*provider_->alloc_pd(), std::move(init));
  }
  void TearDown() override { ::unsetenv("IWARP_STATS"); }

  std::string printed(QpStats& stats) {
    testing::internal::CaptureStderr();
    stats.print();
    return testing::internal::GetCapturedStderr();
  }
  static verbs::ConnectionEvent established() {
    verbs::ConnectionEvent event;
    event.kind = verbs::ConnectionEvent::Kind::kEstablished;
    event.info.local = endpoint("127.0.0.1", 1);
    event.info.remote = endpoint("127.0.0.1", 2);
    return event;
  }

  std::shared_ptr<verbs::provider::Provider> provider_;
  std::shared_ptr<verbs::provider::Qp> qp_;
};

TEST_F(QpStatsTest, AreOnlyThereIfWanted) {
  EXPECT_NE(QpStats::if_wanted(), nullptr);
  ::setenv("IWARP_STATS", "0", 1);
  EXPECT_EQ(QpStats::if_wanted(), nullptr);
  ::unsetenv("IWARP_STATS");
  EXPECT_EQ(QpStats::if_wanted(), nullptr);
}

TEST_F(QpStatsTest, ArePrintedOnce) {
  const auto stats = QpStats::if_wanted();
  stats->follow(qp_);
  stats->note(established());
  EXPECT_THAT(printed(*stats), HasSubstr("from 127.0.0.1:1 to 127.0.0.1:2"));
  EXPECT_THAT(printed(*stats), IsEmpty());
}

TEST_F(QpStatsTest, AreNotPrintedOfAQueuePairThatNeverConnected) {
  const auto stats = QpStats::if_wanted();
  stats->follow(qp_);
  EXPECT_THAT(printed(*stats), IsEmpty());
}

TEST_F(QpStatsTest, DoNotKeepTheQueuePair) {
  const auto stats = QpStats::if_wanted();
  stats->follow(qp_);
  stats->note(established());
  const std::weak_ptr<verbs::provider::Qp> gone = qp_;
  qp_.reset();
  EXPECT_TRUE(gone.expired());
  EXPECT_THAT(printed(*stats), IsEmpty());
}

// The process that exits is started anew: in a copy of this one AddressSanitizer could wait for a
// lock that one of the device's threads held.
TEST_F(QpStatsTest, ArePrintedWhenTheProcessExits) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto leave = [this] {
    const auto stats = QpStats::if_wanted();
    stats->follow(qp_);
    stats->note(established());
    std::exit(0);
  };
  EXPECT_EXIT(leave(), testing::ExitedWithCode(0), "from 127.0.0.1:1 to 127.0.0.1:2");
}

}  // namespace
}  // namespace iwarp::compat
