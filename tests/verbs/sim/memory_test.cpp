#include <atomic>
#include <cstring>
#include <thread>

#include "verbs/sim_harness.hpp"

// Memory windows, fast registration, invalidation, zero-based regions: what work requests make of
// memory, and what a peer can then do with it.
namespace iwarp::verbs::simtest {
namespace {

using soft::Reserved;
using soft::SoftFastMr;
using soft::SoftMw;

Stag with_key(Stag stag, std::uint8_t key) { return Stag{(stag.value() & 0xFFFFFF00U) | key}; }

class Memory : public testing::Test {
 protected:
  Memory()
      : region(pair.server.region(256, kBindable)),
        source(pair.client.region(64, Access::kLocalWrite)) {
    std::fill_n(source.memory.data(), 64, std::byte{0x77});
  }
  ~Memory() override { EXPECT_TRUE(pair.client.intact() && pair.server.intact()); }

  std::shared_ptr<SoftMw> window(WindowType type) {
    auto& registry = pair.server.host->registry;
    const auto kind = type == WindowType::k1 ? Reserved::kWindow1 : Reserved::kWindow2;
    const auto stag = registry->reserve(kind, pair.server.pd->id());
    return std::make_shared<SoftMw>(registry, pair.server.pd, type, stag.value());
  }
  std::shared_ptr<SoftFastMr> fast_region() {
    auto& registry = pair.server.host->registry;
    const auto stag = registry->reserve(Reserved::kFastRegion, pair.server.pd->id());
    return std::make_shared<SoftFastMr>(registry, pair.server.pd, stag.value());
  }
  BindWr part(Stag stag, std::size_t at, std::uint64_t length, Access access = kRemote) {
    return {stag, region.mr->lkey(), region.memory.data() + at, length, access};
  }

  void post_bind(std::uint64_t id, const BindWr& bind) {
    post(pair.server, SendWr{.wr_id = id, .opcode = Opcode::kBindWindow, .bind = &bind});
  }
  void post_register(std::uint64_t id, const RegisterWr& registration) {
    post(pair.server,
         SendWr{.wr_id = id, .opcode = Opcode::kRegister, .registration = &registration});
  }
  void post_invalidate(std::uint64_t id, Stag stag) {
    post(pair.server, SendWr{.wr_id = id, .opcode = Opcode::kInvalidate, .invalidate_stag = stag});
  }
  /// The server's completions so far.
  std::vector<Status> done() {
    pair.run_for(1ms);
    return statuses(pair.server.sent);
  }
  /// The client writes eight octets; whether they came.
  bool write_comes(Stag stag, std::uint64_t to, std::size_t at) {
    const Sge data = source.sge(0, 8);
    post(pair.client, write_of(9, {&data, 1}, stag, to));
    pair.run_for(1ms);
    return region.memory.bytes()[at] == std::byte{0x77};
  }

  SimPair pair;
  Region& region;
  Region& source;
};

class Windows : public Memory, public testing::WithParamInterface<WindowType> {};

TEST_P(Windows, OpenAPartOfARegion) {
  const auto mw = window(GetParam());
  post_bind(1, part(mw->next_rkey(), 64, 32));
  ASSERT_EQ(done(), std::vector{Status::kSuccess});
  EXPECT_EQ(pair.server.sent[0].opcode, CompletionOpcode::kBindWindow);
  EXPECT_TRUE(write_comes(mw->rkey(), region.to(64), 64));
  EXPECT_TRUE(write_comes(mw->rkey(), region.to(88), 88));
}

TEST_P(Windows, StayClosedBesideThatPart) {
  for (const std::size_t at : {std::size_t{63}, std::size_t{89}}) {
    SimPair fresh;
    Region& memory = fresh.server.region(256, kBindable);
    auto& registry = fresh.server.host->registry;
    const auto kind = GetParam() == WindowType::k1 ? Reserved::kWindow1 : Reserved::kWindow2;
    const SoftMw mw(registry, fresh.server.pd, GetParam(),
                    registry->reserve(kind, fresh.server.pd->id()).value());
    const BindWr bind{mw.rkey(), memory.mr->lkey(), memory.memory.data() + 64, 32, kRemote};
    post(fresh.server, SendWr{.opcode = Opcode::kBindWindow, .bind = &bind});
    Region& data = fresh.client.region(8, Access::kLocalWrite);
    const Sge sge = data.sge();
    fresh.run_for(1ms);
    post(fresh.client, write_of(1, {&sge, 1}, mw.rkey(), memory.to(at)));
    ASSERT_TRUE(fresh.run_until_closed());
    EXPECT_EQ(fresh.client.qp->terminate_received()->code, 0x01);  // bounds
  }
}

TEST_P(Windows, MayCountFromZero) {
  const auto mw = window(GetParam());
  post_bind(1, part(mw->next_rkey(), 64, 32, kRemote | Access::kZeroBased));
  ASSERT_EQ(done(), std::vector{Status::kSuccess});
  EXPECT_TRUE(write_comes(mw->rkey(), 8, 72));
}

TEST_P(Windows, GrantNoMoreThanTheyWereBoundWith) {
  const auto mw = window(GetParam());
  post_bind(1, part(mw->next_rkey(), 64, 32, Access::kRemoteRead));
  ASSERT_EQ(done(), std::vector{Status::kSuccess});
  EXPECT_FALSE(write_comes(mw->rkey(), region.to(64), 64));
  EXPECT_TRUE(pair.client.qp->terminate_received());
}

TEST_P(Windows, TakeEffectInTheOrderOfTheQueue) {
  const auto mw = window(GetParam());
  const Sge note = region.sge(0, 8);
  post(pair.client, RecvWr{.wr_id = 1});
  const BindWr bind = part(mw->next_rkey(), 64, 32);
  const SendWr list[] = {{.wr_id = 1, .opcode = Opcode::kBindWindow, .bind = &bind},
                         {.wr_id = 2, .opcode = Opcode::kSend, .sges = {&note, 0}}};
  ASSERT_TRUE(pair.server.qp->post_send(list));
  // As soon as the client hears of it, the window is open.
  ASSERT_TRUE(pair.run_until([&] { return !pair.client.received.empty(); }));
  EXPECT_TRUE(write_comes(mw->rkey(), region.to(64), 64));
  EXPECT_EQ(ids(pair.server.sent), (std::vector<std::uint64_t>{1, 2}));
}

TEST_P(Windows, AreClosedBeforeWhatFollows) {
  const auto mw = window(GetParam());
  post_bind(1, part(mw->next_rkey(), 64, 32));
  ASSERT_EQ(done(), std::vector{Status::kSuccess});
  const Stag open = mw->rkey();
  if (GetParam() == WindowType::k1) {
    post_bind(2, part(mw->next_rkey(), 0, 0));
  } else {
    post_invalidate(2, open);
  }
  ASSERT_EQ(done(), (std::vector{Status::kSuccess, Status::kSuccess}));
  EXPECT_FALSE(write_comes(open, region.to(64), 64));
  EXPECT_TRUE(pair.client.qp->terminate_received());
}

TEST_P(Windows, AreKnownToTheirRegion) {
  const auto mw = window(GetParam());
  EXPECT_FALSE(region.mr->has_windows());
  post_bind(1, part(mw->next_rkey(), 64, 32));
  ASSERT_EQ(done(), std::vector{Status::kSuccess});
  EXPECT_TRUE(region.mr->has_windows());
  if (GetParam() == WindowType::k1) {
    post_bind(2, part(mw->next_rkey(), 0, 0));
  } else {
    post_invalidate(2, mw->rkey());
  }
  ASSERT_EQ(done(), (std::vector{Status::kSuccess, Status::kSuccess}));
  EXPECT_FALSE(region.mr->has_windows());
}

// An access that has begun may go on until then, and no longer.
TEST_P(Windows, AreClosedWhenNobodyIsInsideAnyMore) {
  const auto mw = window(GetParam());
  post_bind(1, part(mw->next_rkey(), 64, 32));
  ASSERT_EQ(done(), std::vector{Status::kSuccess});
  const Stag open = mw->rkey();
  auto access = std::make_optional(pair.server.host->registry->table().pin(
      open, pair.server.qp->accessor(), ddp::Rights::kRemoteWrite, TaggedOffset{region.to(64)}, 1));
  ASSERT_TRUE(*access);
  std::atomic<bool> let_go{false};
  std::thread later([&] {
    std::this_thread::sleep_for(50ms);
    let_go = true;
    access.reset();
  });
  if (GetParam() == WindowType::k1) {
    post_bind(2, part(mw->next_rkey(), 0, 0));
  } else {
    post_invalidate(2, open);
  }
  const auto statuses = done();
  EXPECT_TRUE(let_go);
  later.join();
  EXPECT_EQ(statuses, (std::vector{Status::kSuccess, Status::kSuccess}));
}

TEST_P(Windows, EndWithTheirRegion) {
  const auto mw = window(GetParam());
  post_bind(1, part(mw->next_rkey(), 64, 32));
  ASSERT_EQ(done(), std::vector{Status::kSuccess});
  region.mr.reset();
  EXPECT_FALSE(write_comes(mw->rkey(), region.to(64), 64));
  EXPECT_EQ(pair.client.qp->terminate_received()->code, 0x00);  // invalid STag
}

TEST_P(Windows, EndWithTheirOwner) {
  auto mw = window(GetParam());
  post_bind(1, part(mw->next_rkey(), 64, 32));
  ASSERT_EQ(done(), std::vector{Status::kSuccess});
  const Stag stag = mw->rkey();
  mw.reset();
  EXPECT_FALSE(write_comes(stag, region.to(64), 64));
}

// What may not be bound ends the queue pair with an error of the request.
TEST_P(Windows, AreNotBoundAgainstTheRules) {
  enum class Rule { kNoBindRight, kOutside, kLocalRight, kWriteToReadOnly, kNoWindow, kOtherPd };
  for (const Rule rule : {Rule::kNoBindRight, Rule::kOutside, Rule::kLocalRight,
                          Rule::kWriteToReadOnly, Rule::kNoWindow, Rule::kOtherPd}) {
    SCOPED_TRACE(static_cast<int>(rule));
    SimPair fresh;
    Access rights = kBindable;
    if (rule == Rule::kNoBindRight) rights = Access::kLocalWrite;
    if (rule == Rule::kWriteToReadOnly) rights = Access::kWindowBind;
    Region& memory = fresh.server.region(64, rights);
    auto& registry = fresh.server.host->registry;
    const auto kind = GetParam() == WindowType::k1 ? Reserved::kWindow1 : Reserved::kWindow2;
    const ddp::ProtectionDomainId pd{rule == Rule::kOtherPd ? 99U : 2U};
    const SoftMw mw(registry, fresh.server.pd, GetParam(), registry->reserve(kind, pd).value());
    BindWr bind{mw.rkey(), memory.mr->lkey(), memory.memory.data(), 64, kRemote};
    if (rule == Rule::kOutside) bind.length = 65;
    if (rule == Rule::kLocalRight) bind.access = Access::kLocalWrite;
    if (rule == Rule::kNoWindow) bind.window = memory.key();
    post(fresh.server, SendWr{.opcode = Opcode::kBindWindow, .bind = &bind});
    post(fresh.server, SendWr{.opcode = Opcode::kSend});
    fresh.run_until_closed();
    fresh.turn();
    EXPECT_EQ(statuses(fresh.server.sent),
              (std::vector{Status::kWindowBindError, Status::kFlushed}));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Windows, testing::Values(WindowType::k1, WindowType::k2),
                         [](const auto& tested) {
                           return tested.param == WindowType::k1 ? "Type1" : "Type2";
                         });

TEST_F(Memory, WindowOfType1MovesWhenItIsBoundAgain) {
  const auto mw = window(WindowType::k1);
  post_bind(1, part(mw->next_rkey(), 64, 32));
  const Stag first = mw->rkey();
  post_bind(2, part(mw->next_rkey(), 128, 32));
  ASSERT_EQ(done(), (std::vector{Status::kSuccess, Status::kSuccess}));
  EXPECT_NE(mw->rkey(), first);
  EXPECT_TRUE(write_comes(mw->rkey(), region.to(128), 128));
  EXPECT_FALSE(write_comes(first, region.to(64), 64));
}

TEST_F(Memory, WindowOfType2IsBoundUnderTheKeyOfItsOwner) {
  const auto mw = window(WindowType::k2);
  post_bind(1, part(with_key(mw->rkey(), 0x3C), 64, 32));
  ASSERT_EQ(done(), std::vector{Status::kSuccess});
  EXPECT_TRUE(write_comes(with_key(mw->rkey(), 0x3C), region.to(64), 64));
}

TEST_F(Memory, WindowOfType2IsNotBoundTwice) {
  const auto mw = window(WindowType::k2);
  post_bind(1, part(mw->rkey(), 64, 32));
  post_bind(2, part(with_key(mw->rkey(), 0x3C), 64, 32));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.server.sent), (std::vector{Status::kSuccess, Status::kWindowBindError}));
}

TEST_F(Memory, WindowOfType2MayBeEndedByThePeer) {  // RFC 5040 §5.3
  const auto mw = window(WindowType::k2);
  post_bind(1, part(mw->rkey(), 64, 32));
  ASSERT_EQ(done(), std::vector{Status::kSuccess});
  post(pair.server, RecvWr{.wr_id = 5});
  post(pair.client, SendWr{.opcode = Opcode::kSendInvalidate, .invalidate_stag = mw->rkey()});
  ASSERT_TRUE(pair.run_until([&] { return !pair.server.received.empty(); }));
  EXPECT_EQ(pair.server.received[0].invalidated, mw->rkey());
  EXPECT_FALSE(write_comes(mw->rkey(), region.to(64), 64));
}

TEST_F(Memory, WindowOfType1IsNotThePeersToEnd) {
  const auto mw = window(WindowType::k1);
  post_bind(1, part(mw->next_rkey(), 64, 32));
  ASSERT_EQ(done(), std::vector{Status::kSuccess});
  post(pair.server, RecvWr{.wr_id = 5});
  post(pair.client, SendWr{.opcode = Opcode::kSendInvalidate, .invalidate_stag = mw->rkey()});
  ASSERT_TRUE(pair.run_until_closed());
  EXPECT_EQ(pair.client.qp->terminate_received()->code, 0x09);  // cannot be invalidated
}

TEST_F(Memory, FastRegionIsRegisteredUsedAndEndedAgainAndAgain) {
  const auto fast = fast_region();
  for (unsigned key = 1; key <= 3; ++key) {
    const Stag stag = with_key(fast->stag(), static_cast<std::uint8_t>(key));
    region.memory.data()[8 * key] = std::byte{0};
    post_register(key, {stag, region.memory.data(), 256, kRemote | Access::kLocalWrite});
    EXPECT_EQ(done().back(), Status::kSuccess);
    EXPECT_EQ(pair.server.sent.back().opcode, CompletionOpcode::kRegister);
    EXPECT_TRUE(write_comes(stag, region.to(8 * key), 8 * key));
    post_invalidate(key + 100, stag);
    EXPECT_EQ(done().back(), Status::kSuccess);
    EXPECT_EQ(pair.server.sent.back().opcode, CompletionOpcode::kInvalidate);
  }
}

TEST_F(Memory, FastRegionIsAlsoForLocalUse) {
  const auto fast = fast_region();
  post_register(1, {fast->stag(), region.memory.data(), 256, Access::kLocalWrite});
  std::fill_n(region.memory.data(), 8, std::byte{0x42});
  const Sge piece{region.memory.data(), 8, fast->stag()};
  const Sge into = source.sge(0, 8);
  post(pair.client, RecvWr{.wr_id = 1, .sges = {&into, 1}});
  post(pair.server, send_of(2, {&piece, 1}));
  ASSERT_TRUE(pair.run_until([&] { return !pair.client.received.empty(); }));
  EXPECT_EQ(source.memory.bytes()[0], std::byte{0x42});
}

TEST_F(Memory, FastRegionInForceIsNotRegisteredAgain) {
  const auto fast = fast_region();
  const RegisterWr registration{fast->stag(), region.memory.data(), 256, kRemote | kBindable};
  post_register(1, registration);
  post_register(2, registration);
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.server.sent), (std::vector{Status::kSuccess, Status::kWindowBindError}));
}

TEST_F(Memory, LocalInvalidationWaitsForReadsIfItIsFenced) {
  const auto fast = fast_region();
  Region& remote = pair.client.region(64, Access::kRemoteRead);
  std::fill_n(remote.memory.data(), 64, std::byte{0x66});
  const RegisterWr registration{fast->stag(), region.memory.data(), 256, Access::kLocalWrite};
  const Sge sink{region.memory.data(), 64, fast->stag()};
  SendWr end{.wr_id = 3, .opcode = Opcode::kInvalidate};
  end.flags = SendFlags::kSignaled | SendFlags::kFence;
  end.invalidate_stag = fast->stag();
  post_register(1, registration);
  post(pair.server, read_of(2, {&sink, 1}, remote.key(), remote.to(0)));
  post(pair.server, end);
  ASSERT_TRUE(pair.run_until([&] { return pair.server.sent.size() == 3; }));
  EXPECT_EQ(statuses(pair.server.sent), (std::vector(3, Status::kSuccess)));
  EXPECT_EQ(region.memory.bytes()[63], std::byte{0x66});
}

TEST_F(Memory, PlainRegionIsNotEndedByAWorkRequest) {
  post_invalidate(1, region.key());
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.server.sent), std::vector{Status::kWindowBindError});
}

TEST_F(Memory, WorkRequestsNeedTheirDescription) {
  for (const Opcode opcode : {Opcode::kBindWindow, Opcode::kRegister}) {
    const SendWr request{.opcode = opcode};
    EXPECT_EQ(pair.server.qp->post_send({&request, 1}).error().code, std::errc::invalid_argument);
  }
}

TEST_F(Memory, ZeroBasedRegionCountsFromZero) {
  Region& zero =
      pair.server.region(64, Access::kLocalWrite | Access::kRemoteWrite | Access::kZeroBased);
  const Sge data = source.sge(0, 8);
  post(pair.client, write_of(1, {&data, 1}, zero.key(), 56));
  pair.run_for(1ms);
  EXPECT_EQ(zero.memory.bytes()[56], std::byte{0x77});
  post(pair.client, write_of(2, {&data, 1}, zero.key(), 57));
  ASSERT_TRUE(pair.run_until_closed());
}

TEST_F(Memory, RegisteringAnewChangesKeysAndRights) {
  auto* mr = dynamic_cast<soft::SoftMr*>(region.mr.get());
  const Stag before = mr->rkey();
  EXPECT_FALSE(mr->reregister(pair.server.pd, region.memory.bytes(), Access::kRemoteWrite));
  EXPECT_EQ(mr->rkey(), before) << "as it was";
  ASSERT_TRUE(mr->reregister(pair.server.pd, region.memory.bytes().first(64),
                             Access::kRemoteWrite | Access::kLocalWrite));
  EXPECT_NE(mr->rkey(), before);
  EXPECT_TRUE(write_comes(mr->rkey(), region.to(0), 0));
  EXPECT_FALSE(write_comes(before, region.to(64), 64));
}

TEST_F(Memory, KeepsItsKeysIfOnlyItsRightsChange) {
  auto* mr = dynamic_cast<soft::SoftMr*>(region.mr.get());
  const Stag before = mr->rkey();
  ASSERT_TRUE(mr->reregister(pair.server.pd, region.memory.bytes(),
                             Access::kRemoteWrite | Access::kLocalWrite));
  EXPECT_EQ(mr->rkey(), before);
  EXPECT_TRUE(write_comes(before, region.to(0), 0));
  ASSERT_TRUE(mr->reregister(pair.server.pd, region.memory.bytes(), Access::kLocalWrite));
  EXPECT_EQ(mr->rkey(), before);
  EXPECT_FALSE(write_comes(before, region.to(64), 64));
}

}  // namespace
}  // namespace iwarp::verbs::simtest
