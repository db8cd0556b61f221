#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "iwarp/provider/async_events.hpp"
#include "iwarp/sim/mpa_device.hpp"
#include "iwarp/sim/network.hpp"
#include "soft/engine/half_fpdus.hpp"
#include "soft/engine/running_clock.hpp"
#include "soft/memory_registry.hpp"
#include "soft/qp/soft_qp.hpp"
#include "soft/queues/soft_cq.hpp"
#include "support/guarded_memory.hpp"
#include "support/random.hpp"

/// Queue pairs over a simulated network: one thread, virtual time, no start-up frames.
namespace iwarp::verbs::simtest {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr Access kBindable = Access::kLocalWrite | Access::kWindowBind;
constexpr Access kRemote = Access::kRemoteWrite | Access::kRemoteRead;

/// What queue pairs need around them. Nothing happens but in turn().
class SimHost final : public soft::SocketService,
                      public soft::PollerService,
                      public soft::HalfFpduRoom,
                      public soft::TimeSource,
                      public soft::Executor {
 public:
  SimHost(tcp_offload::SimNetwork& net, std::uint64_t secret);
  SimHost(const SimHost&) = delete;
  SimHost& operator=(const SimHost&) = delete;

  [[nodiscard]] Clock::time_point now() const override { return net_.now(); }
  [[nodiscard]] Clock::time_point running() override { return running_.look(net_.now() + jumped); }
  void post(std::function<void()> task) override {
    if (posts_without_memory != 0 && posts_without_memory-- != 0) throw std::bad_alloc();
    tasks_.push_back(std::move(task));
  }
  std::error_code add(const std::shared_ptr<soft::Driven>& driven) override {
    if (inside_add) std::exchange(inside_add, nullptr)();
    served_.push_back(driven);
    return {};
  }
  void remove(soft::Driven& driven) override;
  void want_write(soft::Driven&) override {  // every turn transmits
    if (inside_transmit) std::exchange(inside_transmit, nullptr)();
  }
  void look_again(soft::Driven&) override {}  // every turn looks
  void want_read(soft::Driven&) override {}
  void see_off(soft::ClosingStream closing) override;
  void sleeper_left() override {}
  void drive_unpolled() override {}
  void take_back(const soft::PollSigns&) override {}
  void account(std::ptrdiff_t octets) override {
    if (inside_receive) std::exchange(inside_receive, nullptr)();
    tails += octets;
  }
  [[nodiscard]] bool has_room() const override { return tails < enough_tails; }

  /// Serves every socket, looks at the time-outs, runs what was posted.
  void turn();
  /// The look at the halves of FPDUs, where the room for them is short.
  void look_at_tails();
  /// Queue pairs whose socket is served.
  [[nodiscard]] std::size_t serving() const { return served_.size(); }
  /// Streams that their queue pair has left behind.
  [[nodiscard]] std::size_t seeing_off() const { return closing_.size(); }
  /// What is said of those that were given up before everything had arrived.
  std::vector<std::string> failed_closings;
  /// Ends those at once.
  void drop_streams() { closing_.clear(); }

  /// Called once, when a queue pair is in the middle of receiving, or of sending: what another
  /// thread could do just then.
  std::function<void()> inside_receive, inside_transmit;
  /// Called once, before a connection is there, and before its socket is served.
  std::function<void()> inside_start, inside_add;
  /// Called once, when a thread waits for another one to leave a half or to end a copy.
  std::function<void()> inside_wait;

  const std::shared_ptr<soft::MemoryRegistry> registry;
  std::vector<AsyncEvent> reports;
  AsyncEvents async_events;
  const soft::Services services;
  bool deaf = false;                   ///< Does not look at its sockets for what came.
  std::chrono::nanoseconds jumped{0};  ///< How far its clock has run while nothing else did.
  /// Sends only for a queue pair whose socket was full, as the engine does; otherwise at each turn:
  /// a device that does not copy tells nobody when it releases memory.
  bool sends_when_asked = false;
  std::size_t posts_without_memory = 0;  ///< So many more tasks cannot be posted.
  std::ptrdiff_t tails = 0;
  std::ptrdiff_t enough_tails = std::ptrdiff_t{1} << 24;  ///< Four times as much is too much.

 private:
  struct Served {
    Served(const std::shared_ptr<soft::Driven>& driven) : address(driven.get()), weak(driven) {}
    const soft::Driven* address;
    std::weak_ptr<soft::Driven> weak;
  };
  static void receive_all(soft::Driven& driven);
  std::uint32_t make_secret();
  void pause();
  [[nodiscard]] std::vector<std::shared_ptr<soft::Driven>> owners() const;

  tcp_offload::SimNetwork& net_;
  soft::RunningClock running_;
  iwarp::test::Random secrets_;
  std::vector<Served> served_;
  std::deque<std::function<void()>> tasks_;
  std::deque<soft::StreamCloser> closing_;
};

/// Registered memory between canaries.
struct Region {
  iwarp::test::GuardedMemory memory;
  std::shared_ptr<provider::Mr> mr;  ///< Reset it to deregister.

  [[nodiscard]] Stag key() const { return mr->rkey(); }
  [[nodiscard]] Sge sge(std::size_t at, std::size_t length) {
    return {memory.data() + at, static_cast<std::uint32_t>(length), mr->lkey()};
  }
  [[nodiscard]] Sge sge() { return sge(0, memory.size()); }
  /// The Tagged Offset of an octet.
  [[nodiscard]] std::uint64_t to(std::size_t at) {
    return reinterpret_cast<std::uintptr_t>(memory.data()) + at;
  }
};

struct EndOptions {
  QpCapacity capacity{64, 64, 4, 4, 64};
  std::uint32_t cq_depth = 1024;
  Signaling signaling = Signaling::kPerRequest;
  connection::Patience timeouts{};
  Liveness liveness{};
  std::chrono::milliseconds receive_wait{0};
  SourceBuffers source_buffers = SourceBuffers::kMayChange;
  std::uint32_t max_fpdu = 0;
  std::optional<provider::SrqOptions> srq{};
  bool rfc7306 = true;
  bool connectionless = false;
  bool uses_manager = false;         ///< After all.
  std::uint64_t secret = 1;          ///< STags depend on it.
  tcp_offload::Offloads offloads{};  ///< What its device does for it.
};

/// What queue pairs and queues of that host are made with.
inline std::shared_ptr<const soft::Services> services_of(const std::shared_ptr<SimHost>& host) {
  return {host, &host->services};
}

/// One end: a host, its queues and one queue pair.
class SimEnd {
 public:
  SimEnd(tcp_offload::SimNetwork& net, const EndOptions& options, std::uint32_t number);
  ~SimEnd();

  /// What its device makes of a stream of the network.
  [[nodiscard]] std::unique_ptr<tcp_offload::Stream> on_device(
      std::unique_ptr<tcp_offload::Stream> wire, const mpa::Agreed& agreed) const;
  /// Puts the queue pair onto a connection, as the end of a start-up does; begins that, too, if the
  /// test has not.
  void enter(std::unique_ptr<tcp_offload::Stream> stream, soft::Role role,
             const mpa::Agreed& agreed, mpa::Rtr rtr);
  /// Ends the start-up. As those that do so in earnest it has the queue pair meanwhile.
  void finish_startup(soft::StartupResult result);
  /// Another queue pair of the same PD, CQs and SRQ.
  std::shared_ptr<soft::SoftQp> make_qp(const EndOptions& options, std::uint32_t number);
  /// What one is made with.
  soft::SoftQpInit init_of(const EndOptions& options, std::uint32_t number);
  /// The host's turn; then completions are taken, if `collects`.
  void turn();
  void collect();

  /// Registers memory of its own PD; stays in place.
  Region& region(std::size_t size, Access access);
  Region& region(std::size_t size, Access access, const std::shared_ptr<soft::SoftPd>& pd);
  /// Whether nothing was written beside any region.
  [[nodiscard]] bool intact() const;

  [[nodiscard]] bool closed() const { return qp->state() == QpState::kError; }
  [[nodiscard]] std::size_t count(ConnectionEvent::Kind kind) const;
  /// How the connection ended. Precondition: it has.
  [[nodiscard]] const Error& end_reason() const { return events.back().error; }
  /// Whether the last it was told is of an error, or it was told nothing at all.
  [[nodiscard]] bool ended_badly() const { return events.empty() || end_reason().code; }

  const std::shared_ptr<SimHost> host;
  const std::shared_ptr<soft::SoftPd> pd;
  const std::shared_ptr<soft::SoftCq> send_cq, recv_cq;
  const std::shared_ptr<soft::SoftSrq> srq;  ///< If asked for.
  std::vector<ConnectionEvent> events;
  std::function<void(const ConnectionEvent&)> on_event;  ///< Called with each of them, if there.
  std::shared_ptr<soft::SoftQp> qp;                      ///< Reset it to destroy.
  const ddp::Accessor accessor = qp->accessor();
  std::vector<Completion> sent, received;
  bool collects = true;

 private:
  const bool rfc7306_;
  const tcp_offload::Offloads offloads_;
  std::deque<Region> regions_;
};

/// The end has been told once that the connection is over: gracefully, or for a reason with these
/// words.
void expect_graceful(const SimEnd& end);
void expect_broken(const SimEnd& end, const std::string& words);

struct PairOptions {
  std::uint64_t seed = 1;
  tcp_offload::SimOptions net{};
  mpa::Crc crc = mpa::Crc::kOn;
  mpa::Markers to_server = mpa::Markers::kOff, to_client = mpa::Markers::kOff;
  mpa::Rtr rtr = mpa::Rtr::kWrite;  ///< kNone: client-server.
  mpa::Depths client_depths{16, 16}, server_depths{16, 16};
  EndOptions client{}, server{};
};

/// What one side has agreed on.
mpa::Agreed agreed_by(const PairOptions& options, soft::Role role);

/// A simulated network whose clock never jumps far: somebody looks at time-outs now and then.
class TickingNetwork {
 public:
  TickingNetwork(std::uint64_t seed, const tcp_offload::SimOptions& options);

  /// Steps, with `turn` after each step, until `condition` holds; false if `limit` of virtual time
  /// has passed before that.
  bool run_until(const std::function<void()>& turn, const std::function<bool()>& condition,
                 std::chrono::nanoseconds limit);

  tcp_offload::SimNetwork net;

 private:
  static constexpr std::chrono::milliseconds kTick{100};
  void tick();
  std::unique_ptr<tcp_offload::Timer> timer_;
};

/// What becomes of an end's stream, as its device has it, before it is used; nothing if empty.
using Wrap =
    std::function<std::unique_ptr<tcp_offload::Stream>(std::unique_ptr<tcp_offload::Stream>)>;

/// Two connected queue pairs: the client is the initiator, whose stream `wrap` gets.
class SimPair {
 public:
  explicit SimPair(const PairOptions& options = {}, const Wrap& wrap = {});

  void turn() {
    client.turn();
    server.turn();
  }
  bool run_until(const std::function<bool()>& condition, std::chrono::nanoseconds limit = 100s) {
    return network.run_until([this] { turn(); }, condition, limit);
  }
  void run_for(std::chrono::nanoseconds time) {
    run_until([] { return false; }, time);
  }
  bool run_until_closed(std::chrono::nanoseconds limit = 100s);

  TickingNetwork network;
  SimEnd client, server;
  tcp_offload::SimStreamPair streams;
  tcp_offload::SimLink link;

  [[nodiscard]] tcp_offload::SimDirection to_server() const {
    return link.from(tcp_offload::SimSide::kConnector);
  }
  [[nodiscard]] tcp_offload::SimDirection to_client() const {
    return link.from(tcp_offload::SimSide::kAcceptor);
  }
};

/// Posting that is expected to succeed.
void post(SimEnd& end, const SendWr& request);
void post(SimEnd& end, const RecvWr& request);

SendWr send_of(std::uint64_t wr_id, std::span<const Sge> sges);
SendWr write_of(std::uint64_t wr_id, std::span<const Sge> sges, Stag stag, std::uint64_t to);
SendWr read_of(std::uint64_t wr_id, std::span<const Sge> sges, Stag stag, std::uint64_t to);

std::vector<std::uint64_t> ids(const std::vector<Completion>& completions);
std::vector<Status> statuses(const std::vector<Completion>& completions);

}  // namespace iwarp::verbs::simtest

namespace iwarp::verbs {
inline void PrintTo(Status status, std::ostream* out) { *out << to_string(status); }
inline void PrintTo(QpState state, std::ostream* out) { *out << to_string(state); }
}  // namespace iwarp::verbs
