#include <gtest/gtest.h>

#include <cstring>

#include "verbs/loopback_support.hpp"

// What goes beyond RFC 5040's operations, through the handles and over real sockets.
namespace iwarp::verbs::test {
namespace {

constexpr Access kAtomic = Access::kLocalWrite | Access::kRemoteAtomic;

std::uint64_t word(const Buffer& buffer, std::size_t index = 0) {
  std::uint64_t value = 0;
  std::memcpy(&value, buffer.memory.data() + 8 * index, 8);
  return value;
}

// Each of `count` connections adds 1 again and again, all of them to the same word.
TEST(Atomics, OfManyQueuePairsAndTheHostItselfLoseNothing) {  // RFC 7306 §5.3
  constexpr std::size_t kConnections = 2;
  constexpr std::uint64_t kEach = 500;
  LoopbackHub hub(kConnections);
  Buffer counter(hub.server.pd, 8, kAtomic);
  Buffer results(hub.client.pd, 16, Access::kLocalWrite);
  std::atomic<bool> over{false};
  std::uint64_t added_here = 0;
  std::thread host([&] {  // a thread of the responder's program works on it, too, without pause
    std::atomic_ref<std::uint64_t> value(*reinterpret_cast<std::uint64_t*>(counter.memory.data()));
    for (; !over.load(); ++added_here) value.fetch_add(1);
  });
  std::vector<std::uint64_t> posted(kConnections, 0);
  std::uint64_t done = 0;
  const bool all_done = eventually([&] { return done == kConnections * kEach; },
                                   [&] {
                                     for (std::size_t i = 0; i < kConnections; ++i) {
                                       const Sge to = results.sge(8 * i, 8);
                                       if (posted[i] == kEach) continue;
                                       const auto sent = hub.client_qps[i].post_send(
                                           SendWr{.opcode = Opcode::kFetchAdd,
                                                  .sges = {&to, 1},
                                                  .remote_stag = counter.region->rkey(),
                                                  .remote_offset = counter.to(),
                                                  .atomic = {.data = 1}});
                                       if (sent) ++posted[i];
                                     }
                                     Completion some[16];
                                     const std::size_t taken = hub.client.cq.poll(some);
                                     for (const Completion& one : std::span(some).first(taken)) {
                                       ASSERT_EQ(one.status, Status::kSuccess);
                                     }
                                     done += taken;
                                   });
  over.store(true);
  host.join();
  EXPECT_TRUE(all_done);
  EXPECT_GT(added_here, 0U);
  EXPECT_EQ(word(counter), kConnections * kEach + added_here);
}

TEST(Atomics, OfTwoThreadsOfOneProgramLoseNothing) {
  LoopbackHub hub(2);
  Buffer counter(hub.server.pd, 8, kAtomic);
  constexpr std::uint64_t kEach = 300;
  const auto add = [&](QueuePair& qp) {
    Buffer result(hub.client.pd, 8, Access::kLocalWrite);
    const Sge to = result.sge();
    for (std::uint64_t i = 0; i < kEach; ++i) {
      std::uint64_t seen = word(result);
      const SendWr request{.flags = SendFlags::kNone,
                           .sges = {&to, 1},
                           .remote_stag = counter.region->rkey(),
                           .remote_offset = counter.to(),
                           .atomic = {.data = 1}};
      SendWr atomic = request;
      atomic.opcode = Opcode::kFetchAdd;
      while (!qp.post_send(atomic)) {
      }
      // The value that was there grows with each of our own.
      const bool came = eventually([&] { return word(result) != seen || i == 0; }, [] {});
      if (!came) return;
      seen = word(result);
    }
  };
  std::thread one([&] { add(hub.client_qps[0]); });
  std::thread two([&] { add(hub.client_qps[1]); });
  one.join();
  two.join();
  EXPECT_TRUE(eventually([&] {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(counter.memory.data())).load() ==
           2 * kEach;
  }));
}

TEST(Handles, WriteWithImmediateNotifies) {
  LoopbackPair pair;
  Buffer source(pair.client.pd, 1000, Access::kNone, std::byte{7});
  Buffer target(pair.server.pd, 1000, Access::kLocalWrite | Access::kRemoteWrite);
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{.wr_id = 3}));
  const Sge all = source.sge();
  SendWr request = write_of(1, {&all, 1}, target);
  request.opcode = Opcode::kWriteImmediate;
  request.immediate = 0xFEED;
  ASSERT_TRUE(pair.client_qp.post_send(request));
  const auto received = poll_for(pair.server.cq, 1);
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].immediate, 0xFEEDU);
  EXPECT_EQ(received[0].byte_length, 1000U);
  EXPECT_EQ(target.last(), std::byte{7});
}

TEST(Handles, WindowOpensAndClosesPartOfARegion) {
  LoopbackPair pair;
  Buffer source(pair.client.pd, 64, Access::kNone, std::byte{7});
  Buffer target(pair.server.pd, 256, Access::kLocalWrite | Access::kWindowBind);
  MemoryWindow window = must(pair.server.pd.alloc_window(WindowType::k1));
  const BindWr bind = target.region->bind_to(window.next_rkey(), 128, 64, Access::kRemoteWrite);
  ASSERT_TRUE(pair.server_qp.post_send(SendWr{.opcode = Opcode::kBindWindow, .bind = &bind}));
  ASSERT_EQ(poll_for(pair.server.cq, 1).at(0).status, Status::kSuccess);
  const Sge all = source.sge();
  SendWr request = write_of(1, {&all, 1}, target, 128);
  request.remote_stag = window.rkey();
  ASSERT_TRUE(pair.client_qp.post_send(request));
  EXPECT_TRUE(eventually([&] {
    return std::atomic_ref(target.memory[191]).load(std::memory_order_acquire) == std::byte{7};
  }));
  EXPECT_EQ(target.memory[127], std::byte{0});
  EXPECT_EQ(target.memory[192], std::byte{0});
}

TEST(Handles, FastRegionNamesMemoryByWorkRequest) {
  LoopbackPair pair;
  Buffer source(pair.client.pd, 64, Access::kNone, std::byte{7});
  std::vector<std::byte> memory(64);
  FastRegion fast = must(pair.server.pd.alloc_fast_region());
  const RegisterWr registration{fast.stag(), memory.data(), memory.size(),
                                Access::kLocalWrite | Access::kRemoteWrite};
  ASSERT_TRUE(
      pair.server_qp.post_send(SendWr{.opcode = Opcode::kRegister, .registration = &registration}));
  ASSERT_EQ(poll_for(pair.server.cq, 1).at(0).status, Status::kSuccess);
  const Sge all = source.sge();
  ASSERT_TRUE(pair.client_qp.post_send(
      SendWr{.opcode = Opcode::kWrite,
             .sges = {&all, 1},
             .remote_stag = fast.stag(),
             .remote_offset = reinterpret_cast<std::uintptr_t>(memory.data())}));
  EXPECT_TRUE(eventually([&] {
    return std::atomic_ref(memory.back()).load(std::memory_order_acquire) == std::byte{7};
  }));
}

TEST(Handles, ZeroBasedRegionAgreesWithItselfOnAddresses) {
  LoopbackPair pair;
  Buffer source(pair.client.pd, 64, Access::kZeroBased, std::byte{7});
  Buffer target(pair.server.pd, 64,
                Access::kLocalWrite | Access::kRemoteWrite | Access::kZeroBased);
  EXPECT_EQ(target.region->remote(8, 8).offset, 8U);
  const Sge part = source.region->sge(32, 32);
  ASSERT_TRUE(pair.client_qp.post_send(write_of(1, {&part, 1}, target, 32)));
  EXPECT_TRUE(eventually([&] { return target.last() == std::byte{7}; }));
  EXPECT_EQ(target.memory[31], std::byte{0});
}

TEST(Handles, RegisteringAnewEndsTheOldKeys) {
  Side side;
  std::vector<std::byte> first(64);
  std::vector<std::byte> second(32);
  MemoryRegion region = must(side.pd.register_memory(first, Access::kRemoteRead));
  const Stag before = region.rkey();
  EXPECT_EQ(region.reregister(side.pd, second, Access::kRemoteWrite).error().code,
            std::errc::invalid_argument);
  EXPECT_EQ(region.size(), 64U);
  ASSERT_TRUE(region.reregister(side.pd, second, Access::kRemoteRead));
  EXPECT_NE(region.rkey(), before);
  EXPECT_EQ(region.data(), second.data());
}

TEST(Handles, SharedReceivesServeManyQueuePairs) {
  Side client;
  Side server;
  SharedReceiveQueue srq = must(server.pd.create_srq({.max_wr = 64}));
  for (std::uint64_t i = 0; i < 64; ++i) ASSERT_TRUE(srq.post_receive(RecvWr{.wr_id = i}));
  auto listener = must(server.device.listen(Endpoint(Address::loopback(), 0)));
  std::vector<QueuePair> server_qps;
  std::thread acceptor([&] {
    for (int i = 0; i < 4; ++i) {
      auto request = listener.next(kPatience);
      ASSERT_TRUE(request);
      server_qps.push_back(server.make_qp({.srq = &srq}));
      ASSERT_TRUE(request->accept(server_qps.back()));
    }
  });
  std::vector<QueuePair> client_qps;
  for (int i = 0; i < 4; ++i) {
    client_qps.push_back(client.make_qp());
    ASSERT_TRUE(client_qps.back().connect(listener.endpoint()));
  }
  acceptor.join();
  for (int round = 0; round < 8; ++round) {
    for (QueuePair& qp : client_qps) ASSERT_TRUE(qp.post_send(SendWr{}));
  }
  const auto received = poll_for(server.cq, 32);
  ASSERT_EQ(received.size(), 32U);
  std::vector<bool> seen(64, false);
  for (const Completion& one : received) {
    EXPECT_FALSE(seen.at(one.wr_id)) << "each receive once";
    seen.at(one.wr_id) = true;
  }
}

TEST(Handles, SharedReceiveQueueOfAnotherPdIsRefused) {
  Side side;
  ProtectionDomain other = must(side.device.alloc_pd());
  SharedReceiveQueue srq = must(other.create_srq());
  EXPECT_EQ(side.pd.create_qp(side.cq, {.srq = &srq}).error().code, std::errc::invalid_argument);
  EXPECT_EQ(other.create_srq({.max_wr = 1U << 30U}).error().code, std::errc::invalid_argument);
  EXPECT_EQ(other.create_srq({.max_sge = 99}).error().code, std::errc::invalid_argument);
}

TEST(Handles, ResizedQueueKeepsWhatWaits) {
  LoopbackPair pair;
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {}}));
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(pair.client_qp.post_send(send_of(i, {})));
  ASSERT_EQ(poll_for(pair.client.cq, 2).size(), 2U);  // somewhere in its middle
  ASSERT_TRUE(eventually([&] { return pair.server_qp.counters().receives == 10; }));
  EXPECT_EQ(pair.server.cq.resize(9).error().code, std::errc::invalid_argument);
  EXPECT_EQ(pair.server.cq.resize(0).error().code, std::errc::invalid_argument);
  ASSERT_TRUE(pair.server.cq.resize(10));
  EXPECT_EQ(pair.server.cq.capacity(), 10U);
  ASSERT_TRUE(pair.client.cq.resize(100));
  const auto received = poll_for(pair.server.cq, 10);
  const auto sent = poll_for(pair.client.cq, 8);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(received.at(i).wr_id, i);
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(sent.at(i).wr_id, i + 2);
}

TEST(Handles, DrainLeavesNothingBehind) {
  LoopbackPair pair;
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(pair.client_qp.post_receive(RecvWr{i, {}}));
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(pair.client_qp.post_send(send_of(100 + i, {})));
  }
  ASSERT_TRUE(pair.client_qp.drain(kPatience));
  const auto all = poll_for(pair.client.cq, 40);
  EXPECT_EQ(all.size(), 40U);
  Completion more;
  EXPECT_EQ(pair.client.cq.poll({&more, 1}), 0U);
}

TEST(Handles, DrainEndsWhatWasNeverConnected) {
  Side side;
  QueuePair qp = side.make_qp();
  ASSERT_TRUE(qp.post_receive(RecvWr{.wr_id = 7}));
  ASSERT_TRUE(qp.drain(kPatience));
  EXPECT_EQ(poll_for(side.cq, 1).at(0).status, Status::kFlushed);
}

}  // namespace
}  // namespace iwarp::verbs::test
