#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>

#include "iwarp/verbs/verbs.hpp"
#include "support/octets.hpp"
#include "verbs/parts/fake_adapter.hpp"

/// The handles of the API over a provider that is no software stack.
namespace iwarp::verbs::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const Endpoint kSomewhere = Endpoint::parse("192.0.2.1:7471").value();

using iwarp::test::octets;

class Seam : public testing::Test {
 protected:
  // Connects two queue pairs; the acceptor has its own thread, as the call blocks.
  void connect() {
    auto listener = device_.listen(kSomewhere).value();
    std::thread acceptor([&] {
      auto request = listener.next(10s);
      ASSERT_TRUE(request);
      EXPECT_EQ(request->private_data().size(), 4U);
      ConnectOptions options;
      options.private_data = octets("reply");
      ASSERT_TRUE(request->accept(b_, options));
    });
    ConnectOptions options;
    options.private_data = octets("asks");
    const auto info = a_.connect(kSomewhere, options);
    acceptor.join();
    ASSERT_TRUE(info);
    EXPECT_EQ(info.value().private_data, octets("reply"));
  }

  Device device_{make_fake_adapter()};
  ProtectionDomain pd_ = device_.alloc_pd().value();
  CompletionQueue cq_ = device_.create_cq(64).value();
  QueuePair a_ = pd_.create_qp(cq_).value();
  QueuePair b_ = pd_.create_qp(cq_).value();
  std::array<std::byte, 64> memory_{};
  MemoryRegion region_ =
      pd_.register_memory(memory_, Access::kLocalWrite | Access::kRemoteWrite).value();
};

TEST_F(Seam, AdapterThatDiagnosesNothingSaysSo) {
  connect();
  a_.disconnect();
  EXPECT_EQ(a_.diagnosis().by, EndedBy::kNobody);
  EXPECT_EQ(a_.diagnosis().to_string(), "nothing has ended it");
}

TEST_F(Seam, ShowsTheAdaptersAttributesAndEvents) {
  EXPECT_EQ(device_.attributes().name, "fake0");
  EXPECT_EQ(device_.attributes().provider, "fake");
  const auto event = device_.wait_async_event(0ms);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->number, 7U);
}

TEST_F(Seam, PassesTheAdaptersRefusalsOn) {
  const auto cq = device_.create_cq(65);
  ASSERT_FALSE(cq);
  EXPECT_EQ(cq.error().code, std::errc::invalid_argument);
  EXPECT_THAT(cq.error().message, HasSubstr("fake0"));
  EXPECT_EQ(a_.connect(kSomewhere).error().code, std::errc::connection_refused);
  EXPECT_EQ(a_.post_send(SendWr{}).error().code, std::errc::not_connected);
}

TEST_F(Seam, LeavesASocketThatTheAdapterCannotAdoptToItsOwner) {
  StreamingSocket socket(::dup(STDERR_FILENO), octets("unread"));
  EXPECT_EQ(a_.adopt(socket).error().code, std::errc::not_supported);
  EXPECT_EQ(a_.start_adopt(socket).error().code, std::errc::not_supported);
  EXPECT_EQ(device_.await_request(socket).error().code, std::errc::not_supported);
  EXPECT_TRUE(socket);
  EXPECT_EQ(socket.already_read(), octets("unread"));
}

TEST_F(Seam, RejectsARequestOnceMoreIfItsConnectionCannotBeKept) {
  auto listener = device_.listen(kSomewhere).value();
  std::thread rejecter([&] {
    auto request = listener.next(10s);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->reject_and_keep().error().code, std::errc::not_supported);
    EXPECT_TRUE(request->reject());
  });
  EXPECT_EQ(a_.connect(kSomewhere).error().code, std::errc::connection_refused);
  rejecter.join();
}

TEST_F(Seam, ConnectsMovesAMessageAndEnds) {
  connect();
  const std::array receive{region_.sge(0, 16)};
  ASSERT_TRUE(b_.post_receive({.wr_id = 1, .sges = receive}));
  std::memcpy(memory_.data() + 32, "over the seam", 13);
  const std::array send{region_.sge(32, 13)};
  ASSERT_TRUE(a_.post_send({.wr_id = 2, .sges = send}));
  const auto received = cq_.wait(1s);
  const auto sent = cq_.wait(1s);
  ASSERT_TRUE(received && sent);
  EXPECT_EQ(received->wr_id, 1U);
  EXPECT_EQ(received->byte_length, 13U);
  EXPECT_EQ(received->qp_number, b_.number());
  EXPECT_EQ(sent->wr_id, 2U);
  EXPECT_EQ(std::memcmp(memory_.data(), "over the seam", 13), 0);
  EXPECT_EQ(b_.counters().receives, 1U);

  a_.disconnect();
  EXPECT_TRUE(a_.wait_disconnected(1s));
  EXPECT_TRUE(b_.wait_disconnected(1s));
  EXPECT_EQ(b_.state(), QpState::kError);
}

TEST_F(Seam, WritesIntoWhatTheRemoteBufferNames) {
  connect();
  const RemoteBuffer remote = region_.remote(48, 8);
  EXPECT_EQ(remote.stag, region_.rkey());
  std::memcpy(memory_.data(), "written!", 8);
  const std::array source{region_.sge(0, 8)};
  ASSERT_TRUE(a_.post_send({.opcode = Opcode::kWrite,
                            .sges = source,
                            .remote_stag = remote.stag,
                            .remote_offset = remote.offset}));
  EXPECT_EQ(std::memcmp(memory_.data() + 48, "written!", 8), 0);
}

TEST_F(Seam, RaisesTheAdaptersEvents) {
  connect();
  cq_.arm(Arm::kSolicited);
  const std::array receive{region_.sge(0, 16)};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(b_.post_receive({.sges = receive}));
  pollfd descriptor{cq_.event_descriptor(), POLLIN, 0};
  ASSERT_TRUE(a_.post_send(SendWr{}));
  EXPECT_EQ(::poll(&descriptor, 1, 0), 0);
  ASSERT_TRUE(a_.post_send({.flags = SendFlags::kSolicited}));
  EXPECT_EQ(::poll(&descriptor, 1, 0), 1);
  EXPECT_TRUE(cq_.take_event());
  EXPECT_FALSE(cq_.take_event());
}

TEST_F(Seam, DeliversARejection) {
  auto listener = device_.listen(kSomewhere).value();
  std::thread rejecter([&] { EXPECT_TRUE(listener.next(10s)->reject(octets("no"))); });
  const auto info = a_.connect(kSomewhere);
  rejecter.join();
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, std::errc::connection_refused);
}

TEST_F(Seam, RejectsWhatNobodyAnswers) {
  std::optional<Listener> listener = device_.listen(kSomewhere).value();
  std::thread leaver([&] { EXPECT_TRUE(listener->next(10s)); });
  EXPECT_FALSE(a_.connect(kSomewhere));
  leaver.join();
}

}  // namespace
}  // namespace iwarp::verbs::test
