// What the steps of a message's way cost that no system call is part of: framing and deframing,
// look-up, placement, rows of messages through both halves of a connection, posting and polling.
// Everything lies in the cache. Octets per second are those of the payload, items are messages.
#include <benchmark/benchmark.h>

#include <optional>
#include <random>
#include <variant>
#include <vector>

#include "iwarp/connection/core.hpp"
#include "iwarp/ddp/memory.hpp"
#include "iwarp/mpa/deframer.hpp"
#include "iwarp/mpa/framer.hpp"
#include "iwarp/mpa/mulpdu.hpp"
#include "soft/qp/work/send_work.hpp"
#include "soft/queues/completion_ring.hpp"
#include "soft/queues/shares.hpp"

namespace {

using iwarp::ConstBytes;
using iwarp::GatherList;
using iwarp::MutableBytes;
using iwarp::Stag;
using iwarp::TaggedOffset;
using iwarp::ddp::Rights;
using iwarp::ddp::StagTable;

constexpr std::size_t kHeader = 14;
constexpr std::size_t kBuffer = std::size_t{256} << 10U;
constexpr std::uint32_t kDepth = 256;
constexpr iwarp::ddp::ProtectionDomainId kPd{1};

void count(benchmark::State& state, std::size_t octets, std::size_t messages = 1) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(octets));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(messages));
}

// Memory that is registered for everything.
class Buffer {
 public:
  Buffer() : octets_(kBuffer, std::byte{0x5A}) {
    iwarp::ddp::TaggedBuffer buffer;
    buffer.memory = octets_.data();
    buffer.length = octets_.size();
    buffer.pd = kPd;
    buffer.rights = Rights::kLocalWrite | Rights::kRemoteWrite | Rights::kRemoteRead;
    stag_ = stags_.enable(buffer).value();
  }
  StagTable& stags() { return stags_; }
  [[nodiscard]] Stag stag() const { return stag_; }
  [[nodiscard]] ConstBytes part(std::size_t size) const { return ConstBytes(octets_).first(size); }

 private:
  std::vector<std::byte> octets_;
  StagTable stags_{1};
  Stag stag_;
};

// ---- MPA ----

void frame(benchmark::State& state, iwarp::mpa::PayloadUse use, iwarp::mpa::Markers markers) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const Buffer buffer;
  const ConstBytes payload = buffer.part(size);
  const std::byte header[kHeader] = {};
  iwarp::mpa::Framer framer(iwarp::mpa::Crc::kOn, markers);
  GatherList list(2 * iwarp::mpa::kMaxFpduWireSize, 1024);
  for (auto unused : state) {
    static_cast<void>(unused);
    list.clear();
    benchmark::DoNotOptimize(framer.frame(header, {&payload, 1}, use, list));
  }
  count(state, size);
}

// Without Markers, which are taken out in place: the same octets can be given again.
void deframe(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const Buffer buffer;
  const ConstBytes payload = buffer.part(size);
  const std::byte header[kHeader] = {};
  iwarp::mpa::Framer framer(iwarp::mpa::Crc::kOn, iwarp::mpa::Markers::kOff);
  GatherList list(2 * iwarp::mpa::kMaxFpduWireSize, 1024);
  if (framer.frame(header, {&payload, 1}, iwarp::mpa::PayloadUse::kCopy, list)) return;
  const MutableBytes fpdu(static_cast<std::byte*>(list.pieces()[0].iov_base), list.size());
  iwarp::mpa::Deframer deframer(iwarp::mpa::Crc::kOn, iwarp::mpa::Markers::kOff);
  for (auto unused : state) {
    static_cast<void>(unused);
    const auto next = deframer.next(fpdu);
    if (!std::holds_alternative<iwarp::mpa::Fpdu>(next)) state.SkipWithError("no FPDU");
  }
  count(state, size);
}

// ---- DDP ----

// By a stream that has found the buffer before, or has not.
void look_up(benchmark::State& state, bool again) {
  Buffer buffer;
  StagTable::Recent recent;
  for (auto unused : state) {
    static_cast<void>(unused);
    if (!again) recent = {};
    const auto pin =
        buffer.stags().pin(buffer.stag(), kPd, Rights::kRemoteWrite, TaggedOffset{64}, 64, recent);
    if (!pin) state.SkipWithError("no buffer");
  }
  count(state, 0);
}

void place(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const Buffer buffer;
  std::vector<std::byte> target(kBuffer);
  for (auto unused : state) {
    static_cast<void>(unused);
    benchmark::DoNotOptimize(iwarp::ddp::place(target.data(), buffer.part(size)));
  }
  count(state, size);
}

// ---- Both halves of a connection ----

struct NoReceives final : iwarp::rdmap::ReceiveSource {
  std::optional<iwarp::rdmap::ReceiveBuffer> take() override { return std::nullopt; }
};

// One end, whose Writes go to memory that has the same STag.
class End {
 public:
  void post(std::uint32_t length) {
    iwarp::rdmap::Request& request = requests_.vacant();
    request = {};
    request.operation = iwarp::rdmap::Operation::kWrite;
    request.length = length;
    request.sge_count = 1;
    request.remote_stag = buffer_.stag();
    requests_.vacant_sges()[0] = {0, length, buffer_.stag()};
    requests_.append();
  }
  // All that may leave, in one piece; it has left, and what is done is retired.
  ConstBytes send() {
    auto& outbound = core_.outbound();
    const auto offer = outbound.offer(batch_, {.mulpdu = 1460});
    const ConstBytes octets(static_cast<const std::byte*>(offer.pieces[0].iov_base), batch_.size());
    released_ += octets.size();
    static_cast<void>(outbound.sent(batch_, octets.size(), released_));
    for (auto done = outbound.count_done(released_); done != 0; --done) requests_.retire();
    return octets;
  }
  iwarp::connection::Taken take(MutableBytes octets) {
    events_.clear();
    return core_.inbound().take(octets, {}, events_);
  }

 private:
  Buffer buffer_;
  NoReceives receives_;
  iwarp::rdmap::SendQueue requests_{kDepth, 1, 0};
  iwarp::connection::Core core_{{buffer_.stags(), kPd, receives_, requests_}, {}};
  iwarp::connection::Batch batch_;
  iwarp::connection::InboundEvents events_;
  std::uint64_t released_ = 0;
};

void send_row(benchmark::State& state) {
  const auto size = static_cast<std::uint32_t>(state.range(0));
  const auto length = static_cast<std::size_t>(state.range(1));
  End end;
  for (auto unused : state) {
    static_cast<void>(unused);
    for (std::size_t i = 0; i < length; ++i) end.post(size);
    benchmark::DoNotOptimize(end.send());
  }
  count(state, length * size, length);
}

void take_row(benchmark::State& state) {
  const auto size = static_cast<std::uint32_t>(state.range(0));
  const auto length = static_cast<std::size_t>(state.range(1));
  End from, to;
  for (std::size_t i = 0; i < length; ++i) from.post(size);
  const ConstBytes sent = from.send();
  std::vector<std::byte> octets(sent.begin(), sent.end());
  for (auto unused : state) {
    static_cast<void>(unused);
    if (to.take(octets).octets != octets.size()) state.SkipWithError("not all was taken");
  }
  count(state, length * size, length);
}

// ---- Verbs ----

// Posts a list and has it done.
void post(benchmark::State& state) {
  const auto length = static_cast<std::size_t>(state.range(0));
  iwarp::verbs::soft::SoftQpInit init;
  init.capacity.max_send_wr = kDepth;
  iwarp::verbs::soft::SendWork work(init);
  std::byte memory[64] = {};
  const iwarp::verbs::Sge sge{memory, sizeof memory, Stag{1}};
  std::vector<iwarp::verbs::SendWr> list(length);
  for (iwarp::verbs::SendWr& request : list) {
    request.opcode = iwarp::verbs::Opcode::kWrite;
    request.flags = iwarp::verbs::SendFlags::kNone;  // its place is free when it is done
    request.sges = {&sge, 1};
  }
  for (auto unused : state) {
    static_cast<void>(unused);
    const auto posted = work.post(list, iwarp::verbs::Posting::kUntilRefused,
                                  iwarp::verbs::soft::SendWork::Admission::kTaken);
    if (posted.refused) state.SkipWithError("refused");
    while (work.any()) benchmark::DoNotOptimize(work.retire(iwarp::verbs::Status::kSuccess));
  }
  count(state, 0, length);
}

// Completions enter their queue together, and are polled.
void poll(benchmark::State& state) {
  const auto length = static_cast<std::size_t>(state.range(0));
  iwarp::verbs::soft::PollSigns signs;
  iwarp::verbs::soft::CompletionRing ring(kDepth, signs);
  iwarp::verbs::soft::Places places(kDepth);
  const std::vector<iwarp::verbs::Completion> completions(length);
  std::vector<iwarp::verbs::Completion> polled(length);
  for (auto unused : state) {
    static_cast<void>(unused);
    for (std::size_t i = 0; i < length; ++i) places.take();
    if (!ring.push(completions, places).all) state.SkipWithError("full");
    benchmark::DoNotOptimize(ring.pop(polled));
  }
  count(state, 0, length);
}

enum class WrIds : std::uint8_t { kOfBuffers, kEqual, kCountingUp };

// All receives of a shared queue with shares are held. One of them, any of those that have wr_ids
// of their own, is posted anew, taken and polled.
void share(benchmark::State& state, WrIds wr_ids) {
  const auto most = static_cast<std::uint32_t>(state.range(0));
  iwarp::verbs::soft::Shares shares(most, most);
  iwarp::verbs::soft::Shares::Taker taker;
  const auto hold = [&](std::uint64_t wr_id) {
    if (!shares.take(taker, wr_id)) state.SkipWithError("no share left");
    shares.release(taker, 1);
  };
  constexpr std::uint64_t kAlignment = 4096;  // of buffers whose addresses are their wr_ids
  for (std::uint64_t i = 0; i < most; ++i) hold(wr_ids == WrIds::kEqual ? 0 : i * kAlignment);
  std::minstd_rand random;
  std::uint64_t next = most;
  for (auto unused : state) {
    static_cast<void>(unused);
    const std::uint64_t buffer = random() % most;
    const std::uint64_t wr_id = wr_ids == WrIds::kEqual        ? 0
                                : wr_ids == WrIds::kCountingUp ? next++ * kAlignment
                                                               : buffer * kAlignment;
    shares.replace(wr_id);
    hold(wr_id);
  }
  count(state, 0);
}

constexpr std::int64_t kSizes[] = {64, 1442, 8930, 64000};
constexpr auto kAllSizes = [](auto* benchmark) {
  for (const std::int64_t size : kSizes) benchmark->Arg(size);
};
constexpr auto kRows = [](auto* benchmark) {
  for (const std::int64_t length : {1, 32, 256}) benchmark->Args({64, length});
  benchmark->Args({1024, 32});
};

BENCHMARK_CAPTURE(frame, copied, iwarp::mpa::PayloadUse::kCopy, iwarp::mpa::Markers::kOff)
    ->Apply(kAllSizes);
BENCHMARK_CAPTURE(frame, referenced, iwarp::mpa::PayloadUse::kReference, iwarp::mpa::Markers::kOff)
    ->Apply(kAllSizes);
BENCHMARK_CAPTURE(frame, with_markers, iwarp::mpa::PayloadUse::kCopy, iwarp::mpa::Markers::kOn)
    ->Apply(kAllSizes);
BENCHMARK(deframe)->Apply(kAllSizes);
BENCHMARK_CAPTURE(look_up, first, false);
BENCHMARK_CAPTURE(look_up, again, true);
BENCHMARK(place)->Apply(kAllSizes);
BENCHMARK(send_row)->Apply(kRows);
BENCHMARK(take_row)->Apply(kRows);
BENCHMARK(post)->Arg(1)->Arg(32);
BENCHMARK(poll)->Arg(1)->Arg(32);
BENCHMARK_CAPTURE(share, wr_ids_of_buffers, WrIds::kOfBuffers)->Arg(64)->Arg(4096);
BENCHMARK_CAPTURE(share, equal_wr_ids, WrIds::kEqual)->Arg(64)->Arg(4096);
BENCHMARK_CAPTURE(share, wr_ids_that_count_up, WrIds::kCountingUp)->Arg(64)->Arg(4096);

}  // namespace

BENCHMARK_MAIN();
