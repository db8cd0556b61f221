#include <cstring>

#include "verbs/sim_harness.hpp"

// Atomic operations and Immediate Data (RFC 7306) between two queue pairs.
namespace iwarp::verbs::simtest {
namespace {

std::uint64_t word(Region& region, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, region.memory.data() + at, sizeof value);
  return value;
}

class Extension : public testing::Test {
 protected:
  explicit Extension(const PairOptions& options = {})
      : pair(options),
        target(pair.server.region(64, kAtomic)),
        result(pair.client.region(64, Access::kLocalWrite)) {}
  ~Extension() override { EXPECT_TRUE(pair.client.intact() && pair.server.intact()); }

  static constexpr Access kAtomic =
      Access::kLocalWrite | Access::kRemoteAtomic | Access::kRemoteWrite | Access::kRemoteRead;

  // The first aligned word of the target.
  [[nodiscard]] std::size_t aligned() { return (8 - target.to(0) % 8) % 8; }
  SendWr atomic(std::uint64_t id, Opcode opcode, const AtomicOperands& operands) {
    to = result.sge(8 * id, 8);
    return {.wr_id = id,
            .opcode = opcode,
            .sges = {&to, 1},
            .remote_stag = target.key(),
            .remote_offset = target.to(aligned()),
            .atomic = operands};
  }
  SendWr add(std::uint64_t id, std::uint64_t data) {
    return atomic(id, Opcode::kFetchAdd, {.data = data});
  }
  bool run_until_sent(std::size_t count) {
    return pair.run_until([&] { return pair.client.sent.size() == count; });
  }

  SimPair pair;
  Region& target;
  Region& result;
  Sge to;
};

TEST_F(Extension, FetchAddAddsAndReturnsWhatWasThere) {
  post(pair.client, add(1, 40));
  post(pair.client, add(2, 2));
  ASSERT_TRUE(run_until_sent(2));
  EXPECT_EQ(word(target, aligned()), 42U);
  EXPECT_EQ(word(result, 8), 0U);
  EXPECT_EQ(word(result, 16), 40U);
  EXPECT_EQ(statuses(pair.client.sent), (std::vector{Status::kSuccess, Status::kSuccess}));
  EXPECT_EQ(pair.client.sent[0].opcode, CompletionOpcode::kFetchAdd);
  EXPECT_EQ(pair.client.sent[0].byte_length, 8U);
  EXPECT_EQ(pair.client.qp->counters().atomics, 2U);
  EXPECT_EQ(pair.server.qp->counters().peer_atomics, 2U);
}

TEST_F(Extension, CmpSwapSwapsIfEqual) {
  post(pair.client, atomic(1, Opcode::kCmpSwap, {.data = 7, .mask = UINT64_MAX, .compare = 0}));
  post(pair.client, atomic(2, Opcode::kCmpSwap, {.data = 8, .mask = UINT64_MAX, .compare = 0}));
  ASSERT_TRUE(run_until_sent(2));
  EXPECT_EQ(word(target, aligned()), 7U);
  EXPECT_EQ(word(result, 16), 7U);
  EXPECT_EQ(pair.client.sent[1].opcode, CompletionOpcode::kCmpSwap);
}

TEST_F(Extension, AtomicsReadsAndWritesCompleteInOrder) {
  const Sge data = result.sge(0, 8);
  post(pair.client, write_of(1, {&data, 1}, target.key(), target.to(32)));
  post(pair.client, add(2, 1));
  post(pair.client, read_of(3, {&data, 1}, target.key(), target.to(32)));
  post(pair.client, add(4, 1));
  ASSERT_TRUE(run_until_sent(4));
  EXPECT_EQ(ids(pair.client.sent), (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST_F(Extension, MoreAtomicsThanOrdWaitForEachOther) {
  for (std::uint64_t i = 0; i < 60; ++i) {
    SendWr request = add(1, 1);
    request.wr_id = i;
    post(pair.client, request);
  }
  ASSERT_TRUE(run_until_sent(60));
  EXPECT_EQ(word(target, aligned()), 60U);
}

TEST_F(Extension, MisalignedAtomicEndsTheStreamAndChangesNothing) {
  SendWr request = add(1, 1);
  request.remote_offset += 4;
  post(pair.client, request);
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent), std::vector{Status::kRemoteOperationError});
  EXPECT_EQ(pair.client.qp->terminate_received()->code, 0x07);
  EXPECT_EQ(word(target, aligned()), 0U);
}

TEST_F(Extension, AtomicWithoutTheRightIsARemoteAccessError) {
  Region& writable = pair.server.region(64, Access::kLocalWrite | Access::kRemoteWrite);
  SendWr request = add(1, 1);
  request.remote_stag = writable.key();
  request.remote_offset = (writable.to(0) + 7) / 8 * 8;
  post(pair.client, request);
  post(pair.client, add(2, 1));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent),
            (std::vector{Status::kRemoteAccessError, Status::kFlushed}));
}

TEST_F(Extension, AtomicIntoMemoryThatIsGoneIsALocalProtectionError) {
  post(pair.client, add(1, 1));
  result.mr.reset();
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent), std::vector{Status::kLocalProtectionError});
}

TEST_F(Extension, MalformedRequestsAreNotPosted) {
  SendWr request = add(1, 1);
  to.length = 7;
  EXPECT_EQ(pair.client.qp->post_send({&request, 1}).error().code, std::errc::invalid_argument);
  to.length = 8;
  request.flags = SendFlags::kInline;
  EXPECT_EQ(pair.client.qp->post_send({&request, 1}).error().code, std::errc::invalid_argument);
  SendWr immediate{.opcode = Opcode::kImmediate, .sges = {&to, 1}};
  EXPECT_EQ(pair.client.qp->post_send({&immediate, 1}).error().code, std::errc::invalid_argument);
  SendWr unknown{.opcode = static_cast<Opcode>(99)};
  EXPECT_EQ(pair.client.qp->post_send({&unknown, 1}).error().code, std::errc::invalid_argument);
}

TEST_F(Extension, ImmediateDataCompletesAReceive) {
  post(pair.server, RecvWr{.wr_id = 5});
  post(pair.client, SendWr{.wr_id = 1, .opcode = Opcode::kImmediate, .immediate = 0xAABB});
  ASSERT_TRUE(pair.run_until([&] { return !pair.server.received.empty(); }));
  const Completion& completion = pair.server.received[0];
  EXPECT_EQ(completion.wr_id, 5U);
  EXPECT_EQ(completion.flags, CompletionFlags::kImmediate);
  EXPECT_EQ(completion.immediate, 0xAABBU);
  ASSERT_TRUE(run_until_sent(1));
  EXPECT_EQ(pair.client.sent[0].opcode, CompletionOpcode::kImmediate);
  EXPECT_EQ(pair.client.qp->counters().immediates, 1U);
}

TEST_F(Extension, WriteWithImmediateHasOneCompletionAtEachEndAfterItsData) {
  post(pair.server, RecvWr{.wr_id = 5});
  Region& big = pair.server.region(100'000, Access::kLocalWrite | Access::kRemoteWrite);
  Region& source = pair.client.region(100'000, Access::kLocalWrite);
  std::fill_n(source.memory.data(), 100'000, std::byte{0x5A});
  const Sge data = source.sge();
  SendWr request = write_of(1, {&data, 1}, big.key(), big.to(0));
  request.opcode = Opcode::kWriteImmediate;
  request.flags = SendFlags::kSignaled | SendFlags::kSolicited;
  request.immediate = 9;
  post(pair.client, request);
  ASSERT_TRUE(pair.run_until([&] { return !pair.server.received.empty(); }));
  EXPECT_EQ(big.memory.bytes()[99'999], std::byte{0x5A});
  EXPECT_EQ(pair.server.received[0].byte_length, 100'000U);
  EXPECT_EQ(pair.server.received[0].flags,
            CompletionFlags::kImmediate | CompletionFlags::kSolicited);
  pair.run_for(1s);
  EXPECT_EQ(ids(pair.client.sent), std::vector<std::uint64_t>{1});
  EXPECT_EQ(pair.client.sent[0].opcode, CompletionOpcode::kWrite);
}

TEST_F(Extension, ImmediateDataMayBeInlineWithItsWrite) {
  post(pair.server, RecvWr{.wr_id = 5});
  const std::uint64_t value = 0x0102030405060708;
  std::uint64_t local = value;
  const Sge data{&local, 8, Stag{}};
  SendWr request = write_of(1, {&data, 1}, target.key(), target.to(aligned()));
  request.opcode = Opcode::kWriteImmediate;
  request.flags = SendFlags::kSignaled | SendFlags::kInline;
  post(pair.client, request);
  local = 0;
  ASSERT_TRUE(pair.run_until([&] { return !pair.server.received.empty(); }));
  EXPECT_EQ(word(target, aligned()), value);
}

TEST_F(Extension, ImmediateDataWithoutAReceiveEndsTheStream) {
  post(pair.client, SendWr{.wr_id = 1, .opcode = Opcode::kImmediate});
  ASSERT_TRUE(pair.run_until_closed());
  EXPECT_EQ(pair.client.qp->terminate_received()->layer, 1);
  EXPECT_EQ(pair.client.qp->terminate_received()->code, 0x02);
}

class WithoutExtension : public Extension {
 protected:
  WithoutExtension() : Extension(options()) {}
  static PairOptions options() {
    PairOptions made;
    made.server.rfc7306 = false;
    return made;
  }
};

TEST_F(WithoutExtension, AtomicIsAnsweredAsAnInvalidRequest) {
  post(pair.client, add(1, 1));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent), std::vector{Status::kRemoteInvalidRequest});
  EXPECT_EQ(word(target, aligned()), 0U);
}

TEST_F(WithoutExtension, ImmediateDataIsAnsweredAsAnUnexpectedOpcode) {
  post(pair.server, RecvWr{.wr_id = 5});
  post(pair.client, SendWr{.wr_id = 1, .opcode = Opcode::kImmediate});
  ASSERT_TRUE(pair.run_until_closed());
  EXPECT_EQ(pair.client.qp->terminate_received()->layer, 0);
  EXPECT_EQ(pair.client.qp->terminate_received()->code, 0x06);
}

TEST_F(WithoutExtension, NothingOfItCanBePosted) {
  for (const Opcode opcode :
       {Opcode::kImmediate, Opcode::kWriteImmediate, Opcode::kFetchAdd, Opcode::kCmpSwap}) {
    SendWr request = add(1, 1);
    request.opcode = opcode;
    if (opcode == Opcode::kImmediate) request.sges = {};
    EXPECT_EQ(pair.server.qp->post_send({&request, 1}).error().code, std::errc::not_supported);
  }
}

}  // namespace
}  // namespace iwarp::verbs::simtest
