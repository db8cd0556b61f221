#include <algorithm>

#include "support/vanishing_memory.hpp"
#include "verbs/answered_stream.hpp"
#include "verbs/sim_harness.hpp"

// Memory that is lost after the segment over it was made, or while the stream takes it.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::Loss;
using iwarp::test::VanishingMemory;
using tcp_offload::IoStatus;
using tcp_offload::Sent;

constexpr std::size_t kReferenced = 8000;  // referenced, as there is no CRC

class SourceFault : public testing::Test {
 protected:
  SourceFault() {
    made = soft::register_memory(pair.client.host->registry, pair.client.pd, memory.bytes(),
                                 Access::kRemoteRead | Access::kLocalWrite)
               .value();
    pair.run_for(100ms);  // the RTR indication
  }
  static PairOptions options() {
    PairOptions chosen;
    chosen.crc = mpa::Crc::kOff;
    chosen.net.emss = 9000;
    return chosen;
  }
  Sge sge() { return {memory.data(), kReferenced, made->lkey()}; }
  void post_send() {
    const Sge to = inbox.sge();
    const Sge from = sge();
    post(pair.server, RecvWr{1, {&to, 1}});
    post(pair.client, send_of(2, {&from, 1}));
    post(pair.client, send_of(3, {}));
  }
  // Once, when the memory itself is offered: as sendmsg(2) on the way through it.
  void when_offered(const std::function<Sent()>& instead) {
    answer = [this, instead](std::span<const iovec> pieces) -> std::optional<Sent> {
      const auto is_ours = [this](const iovec& piece) { return piece.iov_base == memory.data(); };
      if (std::ranges::none_of(pieces, is_ours)) return std::nullopt;
      ++offered;
      return instead();
    };
  }

  AnsweredStream::Answer answer;
  int offered = 0;
  SimPair pair{options(), [this](std::unique_ptr<tcp_offload::Stream> inner) {
                 return std::make_unique<AnsweredStream>(std::move(inner), answer);
               }};
  VanishingMemory memory{2};
  std::shared_ptr<provider::Mr> made;
  Region& inbox = pair.server.region(kReferenced, Access::kLocalWrite);
};

TEST_F(SourceFault, StreamThatCannotReadMemoryIsOfferedACopy) {
  when_offered([] { return Sent{IoStatus::kFault, 0, {}}; });
  std::ranges::fill(memory.bytes(), std::byte{5});
  post_send();
  ASSERT_TRUE(pair.run_until([&] { return !pair.server.received.empty(); }, 1s));
  EXPECT_EQ(offered, 1);
  EXPECT_EQ(statuses(pair.server.received), std::vector{Status::kSuccess});
  EXPECT_EQ(inbox.memory.bytes().back(), std::byte{5});
  EXPECT_EQ(pair.client.qp->state(), QpState::kRts);
}

TEST_F(SourceFault, RequestWhoseMemoryIsLostBeforeTheStreamReadsItFailsByItself) {
  when_offered([this] {
    memory.lose(Loss::kUnmapped, 1);
    return Sent{IoStatus::kFault, 0, {}};
  });
  post_send();
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent),
            (std::vector{Status::kLocalProtectionError, Status::kFlushed}));
  EXPECT_TRUE(pair.server.qp->terminate_received());
}

TEST_F(SourceFault, StreamThatCannotReadTheCopyEitherEndsTheConnection) {
  answer = [this](std::span<const iovec>) {
    ++offered;
    return Sent{IoStatus::kFault, 0, std::make_error_code(std::errc::bad_address)};
  };
  post_send();
  ASSERT_TRUE(pair.run_until([&] { return pair.client.sent.size() == 2; }, 1s));
  EXPECT_EQ(offered, 2);
  EXPECT_EQ(statuses(pair.client.sent), (std::vector{Status::kFlushed, Status::kFlushed}));
  EXPECT_EQ(pair.client.qp->state(), QpState::kError);
}

TEST_F(SourceFault, RestOfAnFpduThatIsLostEndsTheConnection) {
  when_offered([this] {
    memory.lose(Loss::kUnmapped);
    return Sent{IoStatus::kOk, 100, {}};  // all in the header and the first octets
  });
  post_send();
  ASSERT_TRUE(pair.run_until([&] { return pair.client.sent.size() == 2; }, 1s));
  EXPECT_EQ(statuses(pair.client.sent),
            (std::vector{Status::kLocalProtectionError, Status::kFlushed}));
  EXPECT_EQ(pair.client.qp->state(), QpState::kError);
  EXPECT_NE(pair.client.qp->diagnosis().sentence.find("cannot be read"), std::string::npos);
  EXPECT_FALSE(pair.client.qp->terminate_sent()) << "in the middle of an FPDU";
}

TEST_F(SourceFault, ReadWhoseSourceIsLostMidwayIsRefusedWhereItStands) {
  Region& sink = pair.server.region(kReferenced, Access::kLocalWrite);
  const Sge to = sink.sge();
  pair.to_server().set_emss(1460);
  memory.lose(Loss::kNoAccess, 1);
  post(pair.server,
       read_of(1, {&to, 1}, made->rkey(), reinterpret_cast<std::uintptr_t>(memory.data())));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.server.sent), std::vector{Status::kRemoteAccessError});
  const auto told = pair.server.qp->terminate_received();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->layer, 0U);
  EXPECT_EQ(told->type, 1U);
  const std::string header = pair.client.qp->diagnosis().header;
  EXPECT_NE(header.find("Read Request"), std::string::npos) << header;
}

}  // namespace
}  // namespace iwarp::verbs::simtest
