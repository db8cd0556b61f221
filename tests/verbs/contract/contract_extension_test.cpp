// What a provider promises of what not every adapter can do: it works, or it is refused.
#include <array>
#include <cstring>

#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

class ExtensionContract : public ConnectedContract {
 protected:
  // The request is refused when it is posted, and the connection works as before.
  void expect_unsupported(const SendWr& request) {
    const auto posted = left.qp->post_send(request);
    ASSERT_FALSE(posted);
    EXPECT_EQ(posted.error().code, std::errc::not_supported);
    EXPECT_EQ(posted.error().index, 0U);
    expect_service(left, right);
  }
  static SendWr local(std::uint64_t id, Opcode opcode) { return {.wr_id = id, .opcode = opcode}; }
  // Whether a Write of the peer to that STag arrives; it ends the connection if not.
  void expect_writable(Stag stag, const Buffer& memory, std::uint64_t to) {
    const Bytes content = pattern(memory.memory.size(), stag.value());
    const Sge gather = server.buffer(content).sge();
    SendWr request = write_of(50, {&gather, 1}, memory);
    request.remote_stag = stag;
    request.remote_offset = to;
    EXPECT_EQ(run(right, request).status, Status::kSuccess);
    expect_service(right, left);
    EXPECT_EQ(memory.content(), content);
  }
  void expect_closed(Stag stag, const Buffer& memory) {
    const Bytes before = memory.content();
    const Sge gather = server.buffer(memory.memory.size()).sge();
    SendWr request = write_of(51, {&gather, 1}, memory);
    request.remote_stag = stag;
    post(right, request);
    ASSERT_TRUE(until_over(left, right));
    EXPECT_EQ(memory.content(), before);
  }
};
IWARP_IN_EVERY_WORLD(ExtensionContract);

// ---- Atomics ----

class AtomicContract : public ExtensionContract {
 protected:
  static constexpr Access kAtomic = Access::kLocalWrite | Access::kRemoteAtomic;
  // What the request finds there; `value` is there before.
  std::uint64_t fetch(Opcode opcode, const AtomicOperands& operands, std::uint64_t& value) {
    alignas(8) static std::array<std::byte, 8> word;
    std::memcpy(word.data(), &value, sizeof value);
    const auto region = server.pd->register_memory(word, kAtomic);
    EXPECT_TRUE(region);
    const Buffer& sink = client.buffer(8);
    const Sge scatter = sink.sge();
    SendWr request{.wr_id = 1, .opcode = opcode, .sges = {&scatter, 1}};
    request.remote_stag = region->rkey();
    request.remote_offset = region->remote().offset;
    request.atomic = operands;
    EXPECT_EQ(run(left, request).status, Status::kSuccess);
    std::uint64_t found = 0;
    std::memcpy(&value, word.data(), sizeof value);
    std::memcpy(&found, sink.content().data(), sizeof found);
    return found;
  }
};
IWARP_IN_EVERY_WORLD(AtomicContract);

TEST_P(AtomicContract, FetchAddAddsOrIsRefused) {
  if (!can(Capability::kAtomics)) {
    const Sge sge = client.buffer(8).sge();
    expect_unsupported({.wr_id = 1, .opcode = Opcode::kFetchAdd, .sges = {&sge, 1}});
    return;
  }
  std::uint64_t value = 40;
  EXPECT_EQ(fetch(Opcode::kFetchAdd, {.data = 2}, value), 40U);
  EXPECT_EQ(value, 42U);
}

TEST_P(AtomicContract, CmpSwapSwapsWhatIsEqualOrIsRefused) {
  if (!can(Capability::kAtomics)) {
    const Sge sge = client.buffer(8).sge();
    expect_unsupported({.wr_id = 1, .opcode = Opcode::kCmpSwap, .sges = {&sge, 1}});
    return;
  }
  const AtomicOperands operands{.data = 7, .mask = UINT64_MAX, .compare = 40};
  std::uint64_t value = 40;
  EXPECT_EQ(fetch(Opcode::kCmpSwap, operands, value), 40U);
  EXPECT_EQ(value, 7U);
  EXPECT_EQ(fetch(Opcode::kCmpSwap, operands, value), 7U);
  EXPECT_EQ(value, 7U);
}

// ---- Immediate Data ----

TEST_P(ExtensionContract, ImmediateDataCompletesAReceiveOrIsRefused) {
  SendWr request = local(1, Opcode::kImmediate);
  request.immediate = 0x0123456789ABCDEFU;
  if (!can(Capability::kImmediate)) return expect_unsupported(request);
  post(right, RecvWr{2, {}});
  EXPECT_EQ(run(left, request).status, Status::kSuccess);
  ASSERT_TRUE(until([&] { return !server.received.empty(); }));
  EXPECT_TRUE(has(server.received[0].flags, CompletionFlags::kImmediate));
  EXPECT_EQ(server.received[0].immediate, request.immediate);
}

TEST_P(ExtensionContract, AWriteWithImmediateArrivesOrIsRefused) {
  const Bytes content = pattern(500);
  const Sge gather = client.buffer(content).sge();
  const Buffer& target = server.buffer(content.size());
  SendWr request = write_of(1, {&gather, 1}, target);
  request.opcode = Opcode::kWriteImmediate;
  request.immediate = 99;
  if (!can(Capability::kImmediate)) return expect_unsupported(request);
  post(right, RecvWr{2, {}});
  EXPECT_EQ(run(left, request).opcode, CompletionOpcode::kWrite);
  ASSERT_TRUE(until([&] { return !server.received.empty(); }));
  EXPECT_EQ(server.received[0].immediate, 99U);
  EXPECT_EQ(server.received[0].byte_length, content.size());
  EXPECT_EQ(target.content(), content);
  EXPECT_EQ(client.sent.size(), 1U) << "one request, one completion";
}

// ---- Memory windows ----

TEST_P(ExtensionContract, WindowsOfBothTypesAreMadeOrRefused) {
  for (const WindowType type : {WindowType::k1, WindowType::k2}) {
    const auto window = client.pd->alloc_window(type);
    if (can(type == WindowType::k1 ? Capability::kWindowsOfType1 : Capability::kWindows)) {
      ASSERT_TRUE(window) << window.error().message;
      EXPECT_EQ(window->type(), type);
    } else {
      EXPECT_EQ(refusal(window), std::errc::not_supported);
    }
  }
}

TEST_P(ExtensionContract, AWindowOfType1OpensUntilItIsBoundAnew) {
  IWARP_NEEDS(Capability::kWindowsOfType1);
  auto window = client.pd->alloc_window(WindowType::k1).value();
  const Buffer& memory = client.buffer(64, Access::kLocalWrite | Access::kWindowBind);
  const Stag first = window.next_rkey();
  const BindWr open = memory.region->bind_to(first, 0, 64, Access::kRemoteWrite);
  SendWr bind = local(1, Opcode::kBindWindow);
  bind.bind = &open;
  EXPECT_EQ(run(left, bind).status, Status::kSuccess);
  expect_writable(first, memory, memory.to());
  const BindWr anew = memory.region->bind_to(window.next_rkey(), 0, 64, Access::kRemoteWrite);
  bind.bind = &anew;
  EXPECT_EQ(run(left, bind).status, Status::kSuccess);
  EXPECT_EQ(window.rkey(), anew.window);
  expect_writable(anew.window, memory, memory.to());
  expect_closed(first, memory);
}

TEST_P(ExtensionContract, AWindowOfType2OpensUntilItIsInvalidated) {
  IWARP_NEEDS(Capability::kWindows);
  const auto window = client.pd->alloc_window(WindowType::k2).value();
  const Buffer& memory = client.buffer(64, Access::kLocalWrite | Access::kWindowBind);
  const BindWr open = memory.region->bind_to(window.rkey(), 0, 64, Access::kRemoteWrite);
  SendWr bind = local(1, Opcode::kBindWindow);
  bind.bind = &open;
  const Completion bound = run(left, bind);
  EXPECT_EQ(bound.status, Status::kSuccess);
  EXPECT_EQ(bound.opcode, CompletionOpcode::kBindWindow);
  expect_writable(window.rkey(), memory, memory.to());
  SendWr close = local(2, Opcode::kInvalidate);
  close.invalidate_stag = window.rkey();
  EXPECT_EQ(run(left, close).status, Status::kSuccess);
  expect_closed(window.rkey(), memory);
}

TEST_P(ExtensionContract, ARegionThatMayNotBeBoundToEndsTheConnection) {
  IWARP_NEEDS(Capability::kWindows);
  const auto window = client.pd->alloc_window(WindowType::k2).value();
  const Buffer& memory = client.buffer(64);
  const BindWr open = memory.region->bind_to(window.rkey(), 0, 64, Access::kRemoteWrite);
  SendWr bind = local(1, Opcode::kBindWindow);
  bind.bind = &open;
  EXPECT_EQ(run(left, bind).status, Status::kWindowBindError);
}

// ---- Fast registration ----

TEST_P(ExtensionContract, AFastRegionOpensUntilItIsInvalidatedOrIsRefused) {
  const auto fast = client.pd->alloc_fast_region();
  if (!can(Capability::kFastRegistration)) {
    EXPECT_EQ(refusal(fast), std::errc::not_supported);
    return;
  }
  ASSERT_TRUE(fast) << fast.error().message;
  const Buffer& memory = client.buffer(64, Access::kNone);
  const RegisterWr registration{fast->stag(), memory.region->data(), 64, kWritable};
  SendWr begin = local(1, Opcode::kRegister);
  begin.registration = &registration;
  const Completion registered = run(left, begin);
  EXPECT_EQ(registered.status, Status::kSuccess);
  EXPECT_EQ(registered.opcode, CompletionOpcode::kRegister);
  expect_writable(fast->stag(), memory, memory.to());
  SendWr end = local(2, Opcode::kInvalidate);
  end.invalidate_stag = fast->stag();
  EXPECT_EQ(run(left, end).opcode, CompletionOpcode::kInvalidate);
  expect_closed(fast->stag(), memory);
}

// ---- The rest ----

TEST_P(ExtensionContract, AZeroBasedRegionCountsFrom0OrIsRefused) {
  Bytes memory(64);
  const auto region = client.pd->register_memory(memory, kReachable | Access::kZeroBased);
  if (!can(Capability::kZeroBased)) {
    EXPECT_EQ(refusal(region), std::errc::not_supported);
    return;
  }
  ASSERT_TRUE(region) << region.error().message;
  EXPECT_EQ(region->remote().offset, 0U);
  const Bytes content = pattern(10);
  const Sge gather = server.buffer(content).sge();
  SendWr request{.wr_id = 1, .opcode = Opcode::kWrite, .sges = {&gather, 1}};
  request.remote_stag = region->rkey();
  request.remote_offset = 3;
  EXPECT_EQ(run(right, request).status, Status::kSuccess);
  expect_service(right, left);
  EXPECT_EQ(Bytes(memory.begin() + 3, memory.begin() + 13), content);
}

TEST_P(ExtensionContract, CountersCountOrAreZero) {
  const Sge here = client.buffer(100).sge();
  const Buffer& there = server.buffer(100);
  EXPECT_EQ(run(left, write_of(1, {&here, 1}, there)).status, Status::kSuccess);
  EXPECT_EQ(run(left, read_of(2, {&here, 1}, there)).status, Status::kSuccess);
  expect_service(left, right);
  const std::uint64_t one = can(Capability::kCounters) ? 1 : 0;
  const QpCounters counted = left.qp->counters();
  EXPECT_EQ(counted.sends, one);
  EXPECT_EQ(counted.writes, one);
  EXPECT_EQ(counted.reads, one);
  EXPECT_EQ(right.qp->counters().receives, one);
  EXPECT_EQ(right.qp->counters().peer_reads, one);
  EXPECT_EQ(right.qp->counters().peer_writes, one);
  EXPECT_EQ(counted.octets_sent > 300, can(Capability::kCounters));
}

}  // namespace
}  // namespace iwarp::verbs::contract
