#include "verbs/changing/exchange.hpp"

#include <cstring>
#include <deque>
#include <sstream>
#include <stop_token>

#include "support/random.hpp"
#include "verbs/loopback_support.hpp"

namespace iwarp::verbs::test {
namespace {

// Each bit of the one is the opposite of the other's, and of its own neighbour's.
constexpr std::byte kOld{0x55}, kNew{0xAA};
constexpr std::size_t kSmallest = 4096;
constexpr std::size_t kSlots = 4;
// wr_ids: the slot, and for a Send or what stands behind a Write this on top.
constexpr std::uint64_t kSender = 1U << 8U;

// What a sink holds.
struct Kinds {
  bool others = false, both = false;
};

// Eight octets at a time: of an octet that is 0x55 or 0xAA the bits that differ from 0x55 are none
// or all.
Kinds kinds_in(ConstBytes bytes) {
  std::uint64_t wrong = 0, any = 0, all = ~std::uint64_t{0};
  const auto look = [&](std::uint64_t word) {
    const std::uint64_t differs = word ^ 0x5555555555555555U;
    wrong |= (differs ^ (differs >> 1U)) & 0x7F7F7F7F7F7F7F7FU;
    any |= differs;
    all &= differs;
  };
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) look(load_le<std::uint64_t>(bytes.data() + at));
  for (; at < bytes.size(); ++at) look(0x0101010101010101U * std::to_integer<unsigned>(bytes[at]));
  return {wrong != 0, any != all};
}

// Changes memory while it lives: all of it now and then, otherwise an octet here and there, which
// comes round sooner. It races with what reads the memory, which is what it is for: tests/tsan.supp
// knows how the memory is read.
class Writer {
 public:
  Writer(Buffer& first, Buffer& second)
      : thread_([&first, &second](const std::stop_token& stop) { run(stop, first, second); }) {}

 private:
  static void run(const std::stop_token& stop, Buffer& first, Buffer& second) {
    iwarp::test::Random random(7);
    for (std::byte value = kNew; !stop.stop_requested(); value = ~value) {
      const std::size_t length = first.memory.size() >> random.below(12);
      const std::size_t step = random.one_in(8) ? 1 : 500 + random.below(20);
      change(MutableBytes(first.memory).first(length), step, value);
      change(MutableBytes(second.memory).first(length), step, value);
    }
  }
  static void change(MutableBytes memory, std::size_t step, std::byte value) {
    if (step == 1) std::memset(memory.data(), std::to_integer<int>(value), memory.size());
    for (std::size_t at = 0; step != 1 && at < memory.size(); at += step) memory[at] = value;
  }
  std::jthread thread_;
};

// One operation at a time with a sink of its own at either end.
struct Slot {
  Slot(LoopbackPair& pair, std::size_t size)
      : at_client(pair.client.pd, size, Access::kLocalWrite),
        at_server(pair.server.pd, size, Access::kLocalWrite | Access::kRemoteWrite) {}
  Buffer at_client, at_server;
  Buffer* sink = nullptr;
  std::size_t at = 0, length = 0;
  unsigned awaited = 0;  // completions, at both ends
};

class Exchange {
 public:
  explicit Exchange(const ChangingOptions& options)
      : options_(options),
        random_(options.seed),
        pair_(options.connect, options.connect),
        local_(pair_.client.pd, room(), Access::kNone, kOld),
        remote_(pair_.server.pd, room(), Access::kRemoteRead, kOld) {
    for (std::size_t i = 0; i < kSlots; ++i) slots_.emplace_back(pair_, room());
  }

  ChangingTally run() {
    const Writer writer(local_, remote_);
    for (std::size_t i = 0; i < kSlots; ++i) start(i);
    auto patience = std::chrono::steady_clock::now() + kPatience;
    while (!tally_.violation && under_way_ != 0) {
      if (poll()) patience = std::chrono::steady_clock::now() + kPatience;
      if (std::chrono::steady_clock::now() > patience) violate("no operation ended for a minute");
    }
    return tally_;
  }

 private:
  [[nodiscard]] std::size_t room() const { return (kSmallest << options_.largest) + kSmallest; }

  // Long ones are rarer: half of what moves is in messages above a megabyte.
  std::size_t some_length() {
    const std::uint32_t bits =
        std::min(random_.below(options_.largest + 1), random_.below(options_.largest + 1));
    const std::size_t most = kSmallest << bits;
    return bits == 0 ? most : most / 2 + random_.below(static_cast<std::uint32_t>(most / 2 + 1));
  }

  void start(std::size_t index) {
    if (started_ == options_.operations) return;
    ++started_;
    ++under_way_;
    Slot& slot = slots_[index];
    slot.length = some_length();
    slot.at = random_.below(kSmallest);
    const std::uint32_t kind = random_.below(3);
    slot.sink = kind == 0 ? &slot.at_client : &slot.at_server;
    std::memset(slot.sink->memory.data() + slot.at, 0, slot.length);
    const bool posted = kind == 0   ? read(index, slot)
                        : kind == 1 ? write(index, slot)
                                    : send(index, slot);
    if (!posted) violate("a request was refused");
  }

  bool read(std::size_t index, Slot& slot) {
    slot.awaited = 1;
    const Sge to = slot.at_client.sge(slot.at, slot.length);
    const SendWr request = read_of(index | kSender, {&to, 1}, remote_, random_.below(kSmallest));
    return pair_.client_qp.post_send(request).has_value();
  }

  // The Send behind it tells the other end that the Write is there.
  bool write(std::size_t index, Slot& slot) {
    slot.awaited = 2;
    const Sge from = local_.sge(random_.below(kSmallest), slot.length);
    SendWr list[] = {write_of(0, {&from, 1}, slot.at_server, slot.at),
                     send_of(index | kSender, {})};
    list[0].flags = SendFlags::kNone;
    return pair_.server_qp.post_receive(RecvWr{index, {}}).has_value() &&
           pair_.client_qp.post_send(list).has_value();
  }

  bool send(std::size_t index, Slot& slot) {
    slot.awaited = 2;
    const Sge to = slot.at_server.sge(slot.at, slot.length);
    if (!pair_.server_qp.post_receive(RecvWr{index, {&to, 1}})) return false;
    const std::size_t cut = random_.below(static_cast<std::uint32_t>(slot.length));
    const std::size_t at = random_.below(kSmallest);
    const Sge from[] = {local_.sge(at, cut), local_.sge(at + cut, slot.length - cut)};
    return pair_.client_qp.post_send(send_of(index | kSender, from)).has_value();
  }

  bool poll() {
    const std::size_t done = take(pair_.client.cq) + take(pair_.server.cq);
    if (done == 0) std::this_thread::yield();
    return done != 0;
  }

  std::size_t take(CompletionQueue& cq) {
    Completion some[8];
    const std::size_t taken = cq.poll(some);
    for (const Completion& completion : std::span(some).first(taken)) on(completion);
    return taken;
  }

  void on(const Completion& completion) {
    if (completion.status != Status::kSuccess) return violate(described(completion));
    const std::size_t index = completion.wr_id & (kSender - 1);
    Slot& slot = slots_[index];
    if (--slot.awaited != 0) return;
    look_at(slot);
    --under_way_;
    if (!tally_.violation) start(index);
  }

  void look_at(const Slot& slot) {
    const Kinds kinds = kinds_in(ConstBytes(slot.sink->memory).subspan(slot.at, slot.length));
    if (kinds.others) violate("an octet arrived that was never written");
    ++tally_.operations;
    tally_.octets += slot.length;
    if (kinds.both) ++tally_.mixed;
  }

  void violate(const std::string& what) {
    if (!tally_.violation) tally_.violation = what;
  }

  static void tell(std::ostream& out, const char* name,
                   const std::optional<TerminateInfo>& message) {
    if (!message) return;
    out << ", " << name << ' ' << +message->layer << '/' << +message->type << '/' << +message->code;
  }

  // The second end may learn of the end of the connection only now.
  [[nodiscard]] std::string described(const Completion& completion) {
    std::ostringstream out;
    out << "after " << tally_.operations << " operations: " << to_string(completion.status);
    pair_.client_qp.wait_disconnected(5s);
    pair_.server_qp.wait_disconnected(5s);
    tell(out, "the client was sent Terminate", pair_.client_qp.terminate_received());
    tell(out, "the server was sent Terminate", pair_.server_qp.terminate_received());
    return out.str();
  }

  const ChangingOptions options_;
  iwarp::test::Random random_;
  LoopbackPair pair_;
  Buffer local_, remote_;  // what operations read
  std::deque<Slot> slots_;
  std::uint64_t started_ = 0, under_way_ = 0;
  ChangingTally tally_;
};

}  // namespace

ChangingTally exchange_changing(const ChangingOptions& options) { return Exchange(options).run(); }

}  // namespace iwarp::verbs::test
