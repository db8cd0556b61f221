#include <algorithm>
#include <array>
#include <cstring>

#include "support/sanitizers.hpp"
#include "support/vanishing_memory.hpp"
#include "verbs/loopback_support.hpp"

// Registered memory that the program takes away: whatever finds it missing, a peer's request or the
// program's own, the process lives on, and so do its other connections.
namespace iwarp::verbs::test {
namespace {

using iwarp::test::kLosses;
using iwarp::test::Loss;
using iwarp::test::name_of;
using iwarp::test::VanishingMemory;

// What uses the memory, which is the client's or the server's.
enum class Use {
  kWrite,
  kRead,
  kReceive,
  kAtomicTarget,
  kSend,
  kWriteSource,
  kReadSink,
  kAtomicSink
};

struct Row {
  Use use;
  const char* name;
  bool at_server;        // the memory is the server's, and the client's request reaches it
  bool written;          // or else read
  Status request;        // how the client's request ends
  Status receive;        // how the server's oldest receive ends
  TerminateInfo reason;  // what the end whose memory it is tells the other
};

constexpr std::uint8_t kUnspecified = 0xFF;

const Row kRows[] = {
    {Use::kWrite, "Write", true, true, Status::kSuccess, Status::kFlushed, {1, 0, 0, {}}},
    {Use::kRead,
     "Read",
     true,
     false,
     Status::kRemoteAccessError,
     Status::kFlushed,
     {0, 1, kUnspecified, {}}},
    {Use::kReceive,
     "Receive",
     true,
     true,
     Status::kSuccess,
     Status::kLocalProtectionError,
     {0, 0, 0, {}}},
    {Use::kAtomicTarget,
     "Atomic",
     true,
     true,
     Status::kRemoteAccessError,
     Status::kFlushed,
     {0, 1, kUnspecified, {}}},
    {Use::kSend,
     "Send",
     false,
     false,
     Status::kLocalProtectionError,
     Status::kFlushed,
     {0, 0, 0, {}}},
    {Use::kWriteSource,
     "WriteSource",
     false,
     false,
     Status::kLocalProtectionError,
     Status::kFlushed,
     {0, 0, 0, {}}},
    {Use::kReadSink,
     "ReadSink",
     false,
     true,
     Status::kLocalProtectionError,
     Status::kFlushed,
     {0, 0, 0, {}}},
    {Use::kAtomicSink,
     "AtomicSink",
     false,
     true,
     Status::kLocalProtectionError,
     Status::kFlushed,
     {0, 0, 0, {}}},
};

constexpr std::size_t kPages = 20;

// Where in the memory the request reaches, and from where on it is missing.
struct Place {
  const char* name;
  std::size_t at, length, lost_page;
};

std::vector<Place> places(const Row& row) {
  const std::size_t page = VanishingMemory::page();
  if (row.use == Use::kAtomicTarget || row.use == Use::kAtomicSink) {
    // ThreadSanitizer holds a lock of its own during an atomic access, and keeps it if that is
    // left.
    if (iwarp::test::kThreadSanitizer) return {};
    return {{"Word", page, 8, 1}};
  }
  return {{"512", 0, 512, 0},
          {"64K", 0, 65536, 0},
          {"512InTheSecondPage", page - 200, 512, 1},
          {"64KInALaterPage", 100, 65536, 9}};
}

struct Case {
  const Row* row;
  Place place;
  Loss loss;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Row& row : kRows) {
    for (const Place& place : places(row)) {
      for (const Loss loss : kLosses) all.push_back({&row, place, loss});
    }
  }
  return all;
}

// Reading goes on where memory has become read-only.
bool is_fault(const Case& it) { return it.row->written || it.loss != Loss::kReadOnly; }

std::string name_of_case(const testing::TestParamInfo<Case>& it) {
  return std::string(it.param.row->name) + it.param.place.name + "_" + [&] {
    std::string loss = name_of(it.param.loss);
    std::erase(loss, '_');
    return loss;
  }();
}

class MemoryFault : public testing::TestWithParam<Case> {
 protected:
  static constexpr Access kEverything =
      Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead | Access::kRemoteAtomic;

  MemoryFault() {
    std::memset(memory.data(), 0x11, memory.size());
    region = must(owner().pd.register_memory(memory.bytes(), kEverything));
    post_receives();
  }

  Side& owner() { return it.row->at_server ? hub.server : hub.client; }
  QueuePair& owners_qp() { return it.row->at_server ? hub.server_qps[0] : hub.client_qps[0]; }
  QueuePair& peers_qp() { return it.row->at_server ? hub.client_qps[0] : hub.server_qps[0]; }

  Sge in_memory() {
    return region->sge(static_cast<std::uint32_t>(it.place.at),
                       static_cast<std::uint32_t>(it.place.length));
  }
  void post_receives() {
    const Sge to = it.row->use == Use::kReceive ? in_memory() : inbox.sge();
    ASSERT_TRUE(hub.server_qps[0].post_receive(RecvWr{1, {&to, 1}}));
    ASSERT_TRUE(hub.server_qps[0].post_receive(RecvWr{2, {}}));
  }
  // The request that reaches the memory, and one behind it.
  void post_requests() {
    const bool names_it = !it.row->at_server;
    const Sge local = names_it ? in_memory() : outbox.sge(0, it.place.length);
    SendWr request = send_of(1, {&local, 1});
    switch (it.row->use) {
      case Use::kReceive:
      case Use::kSend: break;
      case Use::kWrite:
      case Use::kWriteSource: request.opcode = Opcode::kWrite; break;
      case Use::kRead:
      case Use::kReadSink: request.opcode = Opcode::kRead; break;
      case Use::kAtomicTarget:
      case Use::kAtomicSink: request.opcode = Opcode::kFetchAdd; break;
    }
    request.remote_stag = names_it ? inbox.region->rkey() : region->rkey();
    request.remote_offset = names_it ? inbox.to() : region->remote().offset + it.place.at;
    SendWr behind = send_of(2, {});
    behind.flags = SendFlags::kSignaled | SendFlags::kFence;  // what a response brings is awaited
    ASSERT_TRUE(hub.client_qps[0].post_send(request));
    ASSERT_TRUE(hub.client_qps[0].post_send(behind));
  }
  bool ended() {
    return hub.client_qps[0].state() == QpState::kError &&
           hub.server_qps[0].state() == QpState::kError;
  }
  void expect_other_connection_lives() {
    const Sge to = inbox.sge(0, 100);
    const Sge from = outbox.sge(0, 100);
    ASSERT_TRUE(hub.server_qps[1].post_receive(RecvWr{8, {&to, 1}}));
    ASSERT_TRUE(hub.client_qps[1].post_send(send_of(9, {&from, 1})));
    EXPECT_EQ(poll_for(hub.client.cq, 1).at(0).status, Status::kSuccess);
    EXPECT_EQ(poll_for(hub.server.cq, 1).at(0).status, Status::kSuccess);
  }
  void expect_fault() {
    ASSERT_TRUE(eventually([&] { return ended(); }));
    const auto sent = poll_for(hub.client.cq, 2);
    // What the peer has placed or not is no matter of a Write or Send, unless it could not leave.
    const bool cut_short =
        it.row->request == Status::kSuccess && sent.at(0).status == Status::kFlushed;
    if (!cut_short) {
      EXPECT_EQ(sent.at(0).status, it.row->request);
    }
    const auto received = poll_for(hub.server.cq, 2);
    EXPECT_EQ(received.at(0).status, it.row->receive);
    EXPECT_EQ(received.at(1).status, Status::kFlushed);
    expect_terminate(owners_qp().terminate_sent());
    expect_terminate(peers_qp().terminate_received());
    expect_diagnosis();
  }
  void expect_terminate(const std::optional<TerminateInfo>& told) {
    ASSERT_TRUE(told);
    EXPECT_EQ(told->layer, it.row->reason.layer);
    EXPECT_EQ(told->type, it.row->reason.type);
    EXPECT_EQ(told->code, it.row->reason.code);
  }
  // It names an address of the page that was lost.
  void expect_diagnosis() {
    const std::string said = owners_qp().diagnosis().sentence;
    EXPECT_NE(said.find(it.row->written ? "cannot be written" : "cannot be read"),
              std::string::npos)
        << said;
    const std::size_t at = said.find("0x");
    ASSERT_NE(at, std::string::npos) << said;
    const auto address = std::stoull(said.substr(at), nullptr, 16);
    const auto first = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::size_t page = VanishingMemory::page();
    EXPECT_EQ((address - first) / page, it.place.lost_page);
  }
  void expect_untouched() {
    memory.give_back();
    const std::size_t from = it.place.lost_page * VanishingMemory::page();
    const std::byte there{it.loss == Loss::kTruncated ? std::uint8_t{0} : std::uint8_t{0x11}};
    const ConstBytes lost = memory.bytes().subspan(from);
    EXPECT_TRUE(std::ranges::all_of(lost, [&](std::byte b) { return b == there; }));
  }

  const Case it = GetParam();
  LoopbackHub hub{2};
  VanishingMemory memory{kPages};
  std::optional<MemoryRegion> region;
  Buffer inbox{hub.server.pd, 65536, kEverything, std::byte{0x33}};
  Buffer outbox{hub.client.pd, 65536, kEverything, std::byte{0x22}};
};

TEST_P(MemoryFault, EndsTheRequestOrTheConnectionAndNothingElse) {
  memory.lose(it.loss, it.place.lost_page);
  post_requests();
  if (is_fault(it)) {
    expect_fault();
    expect_untouched();
  } else {
    EXPECT_EQ(poll_for(hub.client.cq, 2).at(1).status, Status::kSuccess);
    const std::size_t receives = it.row->use == Use::kSend ? 2 : 1;
    EXPECT_EQ(poll_for(hub.server.cq, receives).back().status, Status::kSuccess);
  }
  if (!HasFailure()) expect_other_connection_lives();
}

// Short Writes that leave in a row: those before the one whose memory has gone arrive, and no
// other.
TEST(MemoryFaultInARow, EndsTheRequestThatItIsAboutAndThoseBehind) {
  constexpr std::uint32_t kLength = 64;
  LoopbackHub hub{1};
  VanishingMemory memory{2};
  std::memset(memory.data(), 0x11, memory.size());
  const auto region = must(hub.client.pd.register_memory(memory.bytes(), Access::kLocalWrite));
  const Buffer inbox{hub.server.pd, 4 * kLength, Access::kLocalWrite | Access::kRemoteWrite,
                     std::byte{0x33}};
  const auto lost = static_cast<std::uint32_t>(VanishingMemory::page());
  const std::array<std::uint32_t, 4> sources{0, kLength, lost, 2 * kLength};
  std::array<Sge, 4> pieces;
  std::array<SendWr, 4> list;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    pieces[i] = region.sge(sources[i], kLength);
    list[i] = send_of(i, {&pieces[i], 1});
    list[i].opcode = Opcode::kWrite;
    list[i].remote_stag = inbox.region->rkey();
    list[i].remote_offset = inbox.to() + std::uint64_t{i} * kLength;
  }
  memory.lose(Loss::kUnmapped, 1);
  ASSERT_TRUE(hub.client_qps[0].post_send(list));
  const auto sent = poll_for(hub.client.cq, list.size());
  EXPECT_EQ(sent.at(0).status, Status::kSuccess);
  EXPECT_EQ(sent.at(1).status, Status::kSuccess);
  EXPECT_EQ(sent.at(2).status, Status::kLocalProtectionError);
  EXPECT_EQ(sent.at(3).status, Status::kFlushed);
  ASSERT_TRUE(eventually([&] { return hub.server_qps[0].state() == QpState::kError; }));
  const ConstBytes arrived = inbox.memory;
  EXPECT_TRUE(std::ranges::all_of(arrived.first(2 * kLength),
                                  [](std::byte b) { return b == std::byte{0x11}; }));
  EXPECT_TRUE(std::ranges::all_of(arrived.subspan(2 * kLength),
                                  [](std::byte b) { return b == std::byte{0x33}; }));
}

INSTANTIATE_TEST_SUITE_P(OfEveryUse, MemoryFault, testing::ValuesIn(cases()), name_of_case);

}  // namespace
}  // namespace iwarp::verbs::test
