#include <unordered_set>

#include "verbs/sim_harness.hpp"

// Names that come again while somebody still has the old ones: a window whose region has ended in
// any way, or whose queue pair has, opens nothing, whatever has taken their place.
namespace iwarp::verbs::simtest {
namespace {

using soft::Reserved;
using soft::SoftFastMr;
using soft::SoftMr;
using soft::SoftMw;

class World : public testing::Test {
 protected:
  World()
      : region(pair.server.region(64, kBindable)),
        next(pair.server.region(64, kBindable)),
        source(pair.client.region(64, Access::kLocalWrite)) {
    std::fill_n(source.memory.data(), 64, std::byte{0x77});
  }

  std::shared_ptr<soft::MemoryRegistry> registry() { return pair.server.host->registry; }
  std::shared_ptr<SoftMw> window(WindowType type) {
    const auto kind = type == WindowType::k1 ? Reserved::kWindow1 : Reserved::kWindow2;
    const auto stag = registry()->reserve(kind, pair.server.pd->id());
    return std::make_shared<SoftMw>(registry(), pair.server.pd, type, stag.value());
  }
  std::shared_ptr<SoftFastMr> fast_region() {
    const auto stag = registry()->reserve(Reserved::kFastRegion, pair.server.pd->id());
    return std::make_shared<SoftFastMr>(registry(), pair.server.pd, stag.value());
  }
  /// Each of these has succeeded when it returns.
  void bind(Stag stag, Stag lkey, Region& at) {
    const BindWr bind{stag, lkey, at.memory.data(), 64, kRemote};
    succeed(SendWr{.opcode = Opcode::kBindWindow, .bind = &bind});
  }
  void register_fast(Stag stag, Region& at) {
    const RegisterWr registration{stag, at.memory.data(), 64, kBindable | kRemote};
    succeed(SendWr{.opcode = Opcode::kRegister, .registration = &registration});
  }
  void invalidate(Stag stag) {
    succeed(SendWr{.opcode = Opcode::kInvalidate, .invalidate_stag = stag});
  }
  void succeed(const SendWr& request) {
    pair.server.sent.clear();
    post(pair.server, request);
    pair.run_for(1ms);
    ASSERT_EQ(statuses(pair.server.sent), std::vector{Status::kSuccess});
  }
  /// The peer, which has kept the name, writes to where it was; nothing must come anywhere.
  void expect_refused(Stag stag, Region& at) {
    const Sge data = source.sge(0, 8);
    post(pair.client, write_of(9, {&data, 1}, stag, at.to(0)));
    ASSERT_TRUE(pair.run_until_closed());
    ASSERT_TRUE(pair.client.qp->terminate_received());
    EXPECT_EQ(pair.client.qp->terminate_received()->code, 0x00) << "invalid STag";
    EXPECT_EQ(at.memory.bytes()[0], std::byte{0});
    EXPECT_TRUE(pair.client.intact() && pair.server.intact());
  }

  SimPair pair;
  Region &region, &next;
  Region& source;
};

std::string type_name(const testing::TestParamInfo<WindowType>& tested) {
  return tested.param == WindowType::k1 ? "Type1" : "Type2";
}

class ReuseOfNumbers : public World {};

class ReuseOfNames : public World, public testing::WithParamInterface<WindowType> {};

// The program may use the same STag again for a fast region.
TEST_P(ReuseOfNames, OfAFastRegionsStagDoesNotOpenTheWindowsOfItsLastLife) {
  const auto fast = fast_region();
  const auto mw = window(GetParam());
  register_fast(fast->stag(), region);
  bind(mw->next_rkey(), fast->stag(), region);
  invalidate(fast->stag());
  register_fast(fast->stag(), next);
  expect_refused(mw->rkey(), region);
}

// A Send with Invalidate is one more way to end it.
TEST_P(ReuseOfNames, OfAnStagThatThePeerEndedDoesNotOpenTheWindowsOfItsLastLife) {
  const auto fast = fast_region();
  const auto mw = window(GetParam());
  register_fast(fast->stag(), region);
  bind(mw->next_rkey(), fast->stag(), region);
  post(pair.server, RecvWr{.wr_id = 5});
  post(pair.client, SendWr{.opcode = Opcode::kSendInvalidate, .invalidate_stag = fast->stag()});
  ASSERT_TRUE(pair.run_until([&] { return !pair.server.received.empty(); }));
  register_fast(fast->stag(), next);
  expect_refused(mw->rkey(), region);
}

constexpr int kMany = 300'000;

// Those of plain regions are the device's to choose.
TEST_P(ReuseOfNames, OfAPlainRegionsStagDoesNotOpenTheWindowsOfItsLastLife) {
  const auto mw = window(GetParam());
  const Stag parent = region.mr->lkey();
  bind(mw->next_rkey(), parent, region);
  region.mr.reset();
  const ddp::TaggedBuffer other{next.memory.data(), TaggedOffset{0}, 64, pair.server.pd->id(),
                                ddp::Rights::kNone};
  for (int i = 0; i < kMany; ++i) {
    const Stag stag = registry()->enable(other).value();
    if (stag == parent) break;  // and stays
    registry()->disable(stag);
  }
  expect_refused(mw->rkey(), region);
}

TEST_P(ReuseOfNames, OfARegionIsRefusedWhileAWindowIsBoundToIt) {
  const auto mw = window(GetParam());
  auto& mr = dynamic_cast<SoftMr&>(*region.mr);
  const Stag before = mr.lkey();
  bind(mw->next_rkey(), before, region);
  const auto refused = mr.reregister(pair.server.pd, next.memory.bytes(), kBindable);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, std::errc::device_or_resource_busy);
  EXPECT_EQ(mr.lkey(), before) << "as it was";
  if (GetParam() == WindowType::k1) {
    const BindWr end{mw->next_rkey(), before, region.memory.data(), 0, kRemote};
    succeed(SendWr{.opcode = Opcode::kBindWindow, .bind = &end});
  } else {
    invalidate(mw->rkey());
  }
  EXPECT_TRUE(mr.reregister(pair.server.pd, next.memory.bytes(), kBindable));
}

// Numbers of queue pairs come again: those that programs connect without rdma_cm after 16384.
TEST_F(ReuseOfNumbers, OfAQueuePairsNumberDoesNotOpenTheWindowsOfTheLastOne) {
  const auto mw = window(WindowType::k2);
  bind(mw->rkey(), region.mr->lkey(), region);
  const std::uint32_t number = pair.server.qp->number();
  auto& stags = pair.server.host->registry->table();
  const auto reaches = [&](const soft::SoftQp& qp) {
    return stags
        .pin(mw->rkey(), qp.accessor(), ddp::Rights::kRemoteWrite, TaggedOffset{region.to(0)}, 8)
        .has_value();
  };
  ASSERT_TRUE(reaches(*pair.server.qp));
  EXPECT_TRUE(region.mr->has_windows());
  pair.server.qp.reset();
  const auto heir = pair.server.make_qp({}, number);
  EXPECT_FALSE(reaches(*heir));
  EXPECT_FALSE(region.mr->has_windows()) << "it has ended with its queue pair";
}

INSTANTIATE_TEST_SUITE_P(Types, ReuseOfNames, testing::Values(WindowType::k1, WindowType::k2),
                         type_name);

// Another stream is still inside when the peer's Send with Invalidate ends the STag: the completion
// waits for its copy, and not for its peer.
class Quiet : public ReuseOfNames {
 protected:
  /// Ends a fast region by the peer; says how its completion came.
  std::vector<Status> end_by_peer(Stag stag) {
    post(pair.server, RecvWr{.wr_id = 5});
    post(pair.client, SendWr{.opcode = Opcode::kSendInvalidate, .invalidate_stag = stag});
    pair.run_until([&] { return !pair.server.received.empty(); });
    return statuses(pair.server.received);
  }
  std::optional<ddp::StagTable::Pin> access_by_another(Stag stag) {
    auto pin = pair.server.host->registry->table().pin(
        stag, {pair.server.pd->id(), ddp::StreamId{77}}, ddp::Rights::kRemoteWrite,
        TaggedOffset{region.to(0)}, 8);
    if (!pin) return std::nullopt;
    return std::move(*pin);
  }
};

TEST_P(Quiet, IsWhatAnStagIsThatThePeerHasEndedWhenItsCompletionComes) {
  const auto fast = fast_region();
  register_fast(fast->stag(), region);
  const auto mw = window(GetParam());
  if (GetParam() == WindowType::k1) bind(mw->next_rkey(), fast->stag(), region);
  // Through a window on it, or by its own name.
  auto access = access_by_another(GetParam() == WindowType::k1 ? mw->rkey() : fast->stag());
  ASSERT_TRUE(access);
  bool was_early = false;
  pair.server.host->inside_wait = [&] {
    was_early = !pair.server.received.empty();
    access.reset();
  };
  EXPECT_EQ(end_by_peer(fast->stag()), std::vector{Status::kSuccess});
  EXPECT_FALSE(access) << "an access went on behind the completion";
  EXPECT_FALSE(was_early);
}

TEST_P(Quiet, DoesNotMeanThatADeviceHasReturnedWhatItWasLent) {
  const auto fast = fast_region();
  register_fast(fast->stag(), region);
  auto access = access_by_another(fast->stag());
  ASSERT_TRUE(access);
  access->lend();
  EXPECT_EQ(end_by_peer(fast->stag()), std::vector{Status::kSuccess});
  EXPECT_FALSE(pair.server.host->registry->table().idle(fast->stag()));
  access.reset();
  EXPECT_TRUE(pair.server.host->registry->table().idle(fast->stag()));
}

INSTANTIATE_TEST_SUITE_P(Types, Quiet, testing::Values(WindowType::k1, WindowType::k2), type_name);

// A peer that is late has a name of each of them.
TEST(ReuseOfStags, DoesNotHappenWithinAHundredThousandRegistrations) {
  soft::MemoryRegistry registry;
  std::array<std::byte, 8> memory{};
  std::unordered_set<std::uint32_t> seen;
  for (int i = 0; i < 100'000; ++i) {
    const Stag stag = registry
                          .enable({memory.data(), TaggedOffset{0}, memory.size(),
                                   ddp::ProtectionDomainId{1}, ddp::Rights::kRemoteRead})
                          .value();
    ASSERT_TRUE(seen.insert(stag.value()).second) << "came again after " << i;
    registry.disable(stag);
  }
}

}  // namespace
}  // namespace iwarp::verbs::simtest
