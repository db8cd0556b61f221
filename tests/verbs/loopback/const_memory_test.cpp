#include <gmock/gmock.h>

#include <array>
#include <string_view>

#include "verbs/loopback_support.hpp"

// Memory that no program may write to: what it is good for, and what it never permits.
namespace iwarp::verbs::test {
namespace {

constexpr std::string_view kWords = "these lie where the linker puts what is constant";

ConstBytes words() { return std::as_bytes(std::span(kWords)); }

std::string characters(const std::vector<std::byte>& octets, std::size_t size) {
  return {reinterpret_cast<const char*>(octets.data()), size};
}

// No right by which anything could write to it.
template <typename Memory, typename Rights>
concept registers = requires(ProtectionDomain& pd, Memory&& memory, Rights rights) {
  pd.register_memory(std::forward<Memory>(memory), rights);
};
static_assert(registers<MutableBytes, Access> && registers<ConstBytes, SourceAccess>);
static_assert(registers<std::vector<std::byte>&, Access>);
static_assert(registers<std::vector<std::byte>&, SourceAccess>);
static_assert(!registers<std::vector<std::byte>, SourceAccess>, "it ends with the call");
static_assert(!registers<ConstBytes, Access> && !registers<const std::vector<std::byte>&, Access>);

class ConstMemory : public testing::Test {
 protected:
  Completion run(const SendWr& request) {
    EXPECT_TRUE(pair.client_qp.post_send(request));
    const auto done = poll_for(pair.client.cq, 1);
    return done.empty() ? Completion{.status = Status::kFatal} : done.front();
  }

  LoopbackPair pair;
};

TEST_F(ConstMemory, IsSent) {
  const auto region = must(pair.client.pd.register_memory(words()));
  EXPECT_EQ(region.bytes().data(), words().data());
  EXPECT_EQ(region.size(), kWords.size());
  Buffer sink(pair.server.pd, 100, Access::kLocalWrite);
  const Sge into = sink.sge();
  ASSERT_TRUE(pair.server_qp.post_receive({1, {&into, 1}}));
  const std::array from{region.sge(0, 6),
                        region.sge(6, static_cast<std::uint32_t>(kWords.size() - 6))};
  EXPECT_EQ(run(send_of(1, from)).status, Status::kSuccess);
  ASSERT_EQ(poll_for(pair.server.cq, 1).size(), 1U);
  EXPECT_EQ(characters(sink.memory, kWords.size()), kWords);
}

TEST_F(ConstMemory, IsSentInline) {
  Buffer sink(pair.server.pd, 100, Access::kLocalWrite);
  const Sge into = sink.sge();
  ASSERT_TRUE(pair.server_qp.post_receive({1, {&into, 1}}));
  const Sge from = inline_sge(words());
  SendWr request = send_of(1, {&from, 1});
  request.flags = SendFlags::kSignaled | SendFlags::kInline;
  EXPECT_EQ(run(request).status, Status::kSuccess);
  ASSERT_EQ(poll_for(pair.server.cq, 1).size(), 1U);
  EXPECT_EQ(characters(sink.memory, kWords.size()), kWords);
}

TEST_F(ConstMemory, IsWrittenToThePeer) {
  const auto region = must(pair.client.pd.register_memory(words()));
  Buffer there(pair.server.pd, 100, Access::kLocalWrite | Access::kRemoteWrite);
  const Sge from = region.sge();
  EXPECT_EQ(run(write_of(1, {&from, 1}, there)).status, Status::kSuccess);
  EXPECT_TRUE(eventually([&] { return characters(there.memory, kWords.size()) == kWords; }));
}

TEST_F(ConstMemory, IsReadByThePeerIfItMayBe) {
  const auto region = must(pair.server.pd.register_memory(words(), SourceAccess::kRemoteRead));
  Buffer sink(pair.client.pd, kWords.size(), Access::kLocalWrite);
  const Sge into = sink.sge();
  const auto done = run({.opcode = Opcode::kRead,
                         .sges = {&into, 1},
                         .remote_stag = region.rkey(),
                         .remote_offset = region.remote().offset});
  EXPECT_EQ(done.status, Status::kSuccess);
  EXPECT_EQ(characters(sink.memory, kWords.size()), kWords);
}

TEST_F(ConstMemory, IsNotReadByThePeerUnlessItMayBe) {
  const auto region = must(pair.server.pd.register_memory(words()));
  Buffer sink(pair.client.pd, 8, Access::kLocalWrite);
  const Sge into = sink.sge();
  const auto done = run({.opcode = Opcode::kRead,
                         .sges = {&into, 1},
                         .remote_stag = region.rkey(),
                         .remote_offset = region.remote().offset});
  EXPECT_EQ(done.status, Status::kRemoteAccessError);
}

TEST_F(ConstMemory, ZeroBasedIsNamedFromZero) {
  const auto region = must(pair.server.pd.register_memory(
      words(), SourceAccess::kRemoteRead | SourceAccess::kZeroBased));
  EXPECT_EQ(region.remote(5, 1).offset, 5U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.sge(5, 1).address), 5U);
}

// The memory is the program's own here: what must not be written to stays as it was.
class GuardedConstMemory : public ConstMemory {
 protected:
  const std::vector<std::byte> octets = std::vector<std::byte>(64, std::byte{7});
  const ConstMemoryRegion here = must(pair.client.pd.register_memory(octets));
  const ConstMemoryRegion there =
      must(pair.server.pd.register_memory(octets, SourceAccess::kRemoteRead));
  Buffer other{pair.client.pd, 64, Access::kLocalWrite, std::byte{1}};

  void TearDown() override { EXPECT_EQ(octets, std::vector<std::byte>(64, std::byte{7})); }
};

TEST_F(GuardedConstMemory, IsNoSinkOfARead) {
  Buffer source(pair.server.pd, 64, Access::kRemoteRead);
  const Sge into = here.sge();
  EXPECT_EQ(run(read_of(1, {&into, 1}, source)).status, Status::kLocalProtectionError);
}

TEST_F(GuardedConstMemory, IsNoPlaceForAMessage) {
  const auto region = must(pair.server.pd.register_memory(octets));
  const Sge into = region.sge();
  ASSERT_TRUE(pair.server_qp.post_receive({1, {&into, 1}}));
  const Sge from = other.sge();
  ASSERT_TRUE(pair.client_qp.post_send(send_of(1, {&from, 1})));
  const auto received = poll_for(pair.server.cq, 1);
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].status, Status::kLocalProtectionError);
}

TEST_F(GuardedConstMemory, IsNotWrittenByThePeer) {
  const Sge from = other.sge();
  ASSERT_TRUE(pair.client_qp.post_send({.opcode = Opcode::kWrite,
                                        .sges = {&from, 1},
                                        .remote_stag = there.rkey(),
                                        .remote_offset = there.remote().offset}));
  EXPECT_TRUE(pair.client_qp.wait_disconnected(kPatience));
  ASSERT_TRUE(pair.client_qp.terminate_received());
}

TEST_F(GuardedConstMemory, IsNotChangedByAnAtomicOfThePeer) {
  const Sge into = other.sge(0, 8);
  const std::uint64_t at = (there.remote().offset + 7) / 8 * 8;
  const auto done = run({.opcode = Opcode::kFetchAdd,
                         .sges = {&into, 1},
                         .remote_stag = there.rkey(),
                         .remote_offset = at,
                         .atomic = {.data = 1}});
  EXPECT_EQ(done.status, Status::kRemoteAccessError);
}

// ---- What a request would fail with ----

std::error_code would_fail(const ProtectionDomain& pd, std::span<const Sge> sges, Access needed) {
  const auto usable = pd.check(sges, needed);
  return usable ? std::error_code() : usable.error().code;
}

TEST_F(GuardedConstMemory, CheckTellsWhatARequestWouldFailWith) {
  const ProtectionDomain& pd = pair.client.pd;
  const std::array both{other.sge(), here.sge()};
  EXPECT_EQ(would_fail(pd, both, Access::kNone), std::error_code());
  EXPECT_EQ(would_fail(pd, std::span(both).first(1), Access::kLocalWrite), std::error_code());
  EXPECT_EQ(would_fail(pd, both, Access::kLocalWrite), std::errc::operation_not_permitted);
  EXPECT_THAT(pd.check(both, Access::kLocalWrite).error().message,
              testing::StartsWith("sges[1]: "));
  const Sge foreign = there.sge();
  Sge beyond = here.sge();
  ++beyond.length;
  Sge unknown = here.sge();
  unknown.lkey = Stag{unknown.lkey.value() ^ 0xFFU};
  EXPECT_EQ(would_fail(pd, {&beyond, 1}, Access::kNone), std::errc::bad_address);
  EXPECT_EQ(would_fail(pd, {&unknown, 1}, Access::kNone), std::errc::no_such_file_or_directory);
  EXPECT_EQ(would_fail(pd, std::array{Sge{}}, Access::kLocalWrite), std::error_code());
  auto second = must(pair.client.device.alloc_pd());
  const Sge mine = other.sge();
  EXPECT_EQ(would_fail(second, {&mine, 1}, Access::kNone), std::errc::operation_not_permitted);
  EXPECT_NE(would_fail(pd, {&foreign, 1}, Access::kNone), std::error_code());  // another device's
}

}  // namespace
}  // namespace iwarp::verbs::test
