#include "verbs/sim_harness.hpp"

#include <algorithm>
#include <array>

#include "soft/mpa_offload.hpp"

namespace iwarp::verbs::simtest {
// ---- SimHost ----

SimHost::SimHost(tcp_offload::SimNetwork& net, std::uint64_t secret)
    : registry(std::make_shared<soft::MemoryRegistry>(secret, [this] { pause(); })),
      services{registry,
               *this,
               *this,
               *this,
               *this,
               *this,
               async_events,
               [this] { return make_secret(); },
               [this] { pause(); }},
      net_(net),
      secrets_(secret) {
  async_events.on_event([this](const AsyncEvent& event) { reports.push_back(event); });
}

std::uint32_t SimHost::make_secret() {
  if (inside_start) std::exchange(inside_start, nullptr)();
  return secrets_.word32();
}

void SimHost::pause() {
  if (inside_wait) return std::exchange(inside_wait, nullptr)();
  std::this_thread::yield();
}

void SimHost::remove(soft::Driven& driven) {
  std::erase_if(served_, [&](const Served& each) { return each.address == &driven; });
}

void SimHost::see_off(soft::ClosingStream closing) {
  closing_.emplace_back(std::move(closing), running());
}

std::vector<std::shared_ptr<soft::Driven>> SimHost::owners() const {
  std::vector<std::shared_ptr<soft::Driven>> owners;
  for (const Served& each : served_) {
    if (auto driven = each.weak.lock()) owners.push_back(std::move(driven));
  }
  return owners;
}

void SimHost::receive_all(soft::Driven& driven) {
  const auto& halves = dynamic_cast<soft::QpHalves&>(driven);
  std::uint64_t before = 0;
  do {
    before = halves.octets_received();
    driven.receive();
  } while (driven.waits().input && halves.octets_received() != before);
}

void SimHost::turn() {
  for (const Served& each : std::vector<Served>(served_)) {
    const auto driven = each.weak.lock();
    if (!driven) continue;
    if (!sends_when_asked || driven->waits().room) driven->transmit();
    if (!deaf) receive_all(*driven);
    if (driven->waits().looks) driven->look_again();
    driven->check_deadlines();
  }
  look_at_tails();
  while (!tasks_.empty()) {
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
  }
  std::erase_if(closing_, [this](soft::StreamCloser& closer) {
    if (closer.turn(running()) != soft::StreamCloser::State::kOver) return false;
    if (!closer.failure().empty()) failed_closings.push_back(closer.failure());
    return true;
  });
}

void SimHost::look_at_tails() {
  if (has_room()) return;
  soft::HalfFpduLedger ledger({}, {.enough = enough_tails, .most = 4 * enough_tails});
  ledger.account(tails);
  soft::make_room(owners(), ledger, running());
}

// ---- SimEnd ----

SimEnd::SimEnd(tcp_offload::SimNetwork& net, const EndOptions& options, std::uint32_t number)
    : host(std::make_shared<SimHost>(net, options.secret)),
      pd(std::make_shared<soft::SoftPd>(ddp::ProtectionDomainId{number})),
      send_cq(std::make_shared<soft::SoftCq>(services_of(host), options.cq_depth, 2 * number)),
      recv_cq(std::make_shared<soft::SoftCq>(services_of(host), options.cq_depth, 2 * number + 1)),
      srq(options.srq ? std::make_shared<soft::SoftSrq>(services_of(host), pd, *options.srq, number)
                      : nullptr),
      qp(make_qp(options, number)),
      rfc7306_(options.rfc7306),
      offloads_(options.offloads) {}

std::shared_ptr<soft::SoftQp> SimEnd::make_qp(const EndOptions& options, std::uint32_t number) {
  auto made = soft::SoftQp::make(init_of(options, number));
  if (options.uses_manager) made->use_manager();
  return made;
}

soft::SoftQpInit SimEnd::init_of(const EndOptions& options, std::uint32_t number) {
  soft::SoftQpInit init;
  init.services = services_of(host);
  init.pd = pd;
  init.send_cq = send_cq;
  init.recv_cq = recv_cq;
  init.srq = srq;
  init.capacity = options.capacity;
  init.signaling = options.signaling;
  init.on_event = [this](const ConnectionEvent& event) {
    events.push_back(event);
    if (on_event) on_event(event);
  };
  init.number = number;
  init.connectionless = options.connectionless;
  init.patience = options.timeouts;
  init.liveness = options.liveness;
  init.receive_wait = options.receive_wait;
  init.source_buffers = options.source_buffers;
  init.max_fpdu = options.max_fpdu;
  return init;
}

// A device that does not copy still reads from registered memory while a stream is left.
SimEnd::~SimEnd() {
  qp.reset();
  host->drop_streams();
}

std::unique_ptr<tcp_offload::Stream> SimEnd::on_device(std::unique_ptr<tcp_offload::Stream> wire,
                                                       const mpa::Agreed& agreed) const {
  return tcp_offload::offload_mpa(std::move(wire), soft::mpa_terms(agreed.modes), offloads_);
}

void SimEnd::enter(std::unique_ptr<tcp_offload::Stream> stream, soft::Role role,
                   const mpa::Agreed& agreed, mpa::Rtr rtr) {
  soft::RdmaMode mode;
  mode.stream = std::move(stream);
  mode.role = role;
  mode.agreed = agreed;
  mode.offloads = offloads_;
  mode.rtr = rtr;
  mode.info.rfc7306 = rfc7306_;
  EXPECT_TRUE(qp->state() == QpState::kConnecting || qp->responder()->begin_startup());
  finish_startup(std::move(mode));
}

void SimEnd::finish_startup(soft::StartupResult result) {
  const std::shared_ptr<soft::SoftQp> meanwhile = qp;
  meanwhile->responder()->finish_startup(std::move(result));
}

void SimEnd::turn() {
  host->turn();
  if (collects) collect();
}

void SimEnd::collect() {
  std::array<Completion, 16> some;
  const auto take = [&some](soft::SoftCq& cq, std::vector<Completion>& into) {
    std::size_t count = 0;
    do {
      count = cq.poll(some);
      into.insert(into.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
    } while (count == some.size());
  };
  take(*send_cq, sent);
  take(*recv_cq, received);
}

Region& SimEnd::region(std::size_t size, Access access) { return region(size, access, pd); }

Region& SimEnd::region(std::size_t size, Access access,
                       const std::shared_ptr<soft::SoftPd>& owner) {
  Region& made =
      regions_.emplace_back(Region{iwarp::test::GuardedMemory(size, regions_.size() % 8), nullptr});
  auto mr = soft::register_memory(host->registry, owner, made.memory.bytes(), access);
  EXPECT_TRUE(mr) << mr.error().message;
  made.mr = std::move(*mr);
  return made;
}

bool SimEnd::intact() const {
  return std::all_of(regions_.begin(), regions_.end(),
                     [](const Region& region) { return region.memory.intact(); });
}

std::size_t SimEnd::count(ConnectionEvent::Kind kind) const {
  return static_cast<std::size_t>(
      std::count_if(events.begin(), events.end(),
                    [kind](const ConnectionEvent& event) { return event.kind == kind; }));
}

// ---- The network ----

TickingNetwork::TickingNetwork(std::uint64_t seed, const tcp_offload::SimOptions& options)
    : net(seed, options), timer_(net.device(1).make_timer()) {
  tick();
}

void TickingNetwork::tick() {
  timer_->async_wait(kTick, [this](std::error_code error) {
    if (!error) tick();
  });
}

bool TickingNetwork::run_until(const std::function<void()>& turn,
                               const std::function<bool()>& condition,
                               std::chrono::nanoseconds limit) {
  const auto end = net.now() + limit;
  for (;;) {
    turn();
    if (condition()) return true;
    if (net.now() >= end) return false;
    net.step();
  }
}

// ---- SimPair ----

mpa::Agreed agreed_by(const PairOptions& options, soft::Role role) {
  const bool client = role == soft::Role::kInitiator;
  mpa::Agreed agreed;
  agreed.modes = {options.crc, client ? options.to_server : options.to_client,
                  client ? options.to_client : options.to_server};
  agreed.model = options.rtr == mpa::Rtr::kNone ? mpa::ConnectionModel::kClientServer
                                                : mpa::ConnectionModel::kPeerToPeer;
  agreed.depths = client ? options.client_depths : options.server_depths;
  return agreed;
}

SimPair::SimPair(const PairOptions& options, const Wrap& wrap)
    : network(options.seed, options.net),
      client(network.net, options.client, 1),
      server(network.net, options.server, 2),
      streams(network.net.make_stream_pair()),
      link(streams.link) {
  const mpa::Agreed here = agreed_by(options, soft::Role::kInitiator);
  const mpa::Agreed there = agreed_by(options, soft::Role::kResponder);
  streams.connector = client.on_device(std::move(streams.connector), here);
  if (wrap) streams.connector = wrap(std::move(streams.connector));
  server.enter(server.on_device(std::move(streams.acceptor), there), soft::Role::kResponder, there,
               mpa::Rtr::kNone);
  client.enter(std::move(streams.connector), soft::Role::kInitiator, here, options.rtr);
}

bool SimPair::run_until_closed(std::chrono::nanoseconds limit) {
  return run_until([this] { return client.closed() && server.closed(); }, limit);
}

// ---- Requests ----

void post(SimEnd& end, const SendWr& request) {
  const auto posted = end.qp->post_send({&request, 1});
  EXPECT_TRUE(posted) << "request " << request.wr_id << " was not posted";
}

void post(SimEnd& end, const RecvWr& request) {
  const auto posted = end.qp->post_receive({&request, 1});
  EXPECT_TRUE(posted) << "receive " << request.wr_id << " was not posted";
}

SendWr send_of(std::uint64_t wr_id, std::span<const Sge> sges) {
  return {.wr_id = wr_id, .sges = sges};
}

SendWr write_of(std::uint64_t wr_id, std::span<const Sge> sges, Stag stag, std::uint64_t to) {
  return {.wr_id = wr_id,
          .opcode = Opcode::kWrite,
          .sges = sges,
          .remote_stag = stag,
          .remote_offset = to};
}

SendWr read_of(std::uint64_t wr_id, std::span<const Sge> sges, Stag stag, std::uint64_t to) {
  return {.wr_id = wr_id,
          .opcode = Opcode::kRead,
          .sges = sges,
          .remote_stag = stag,
          .remote_offset = to};
}

std::vector<std::uint64_t> ids(const std::vector<Completion>& completions) {
  std::vector<std::uint64_t> all;
  for (const Completion& completion : completions) all.push_back(completion.wr_id);
  return all;
}

std::vector<Status> statuses(const std::vector<Completion>& completions) {
  std::vector<Status> all;
  for (const Completion& completion : completions) all.push_back(completion.status);
  return all;
}

void expect_graceful(const SimEnd& end) {
  ASSERT_EQ(end.count(ConnectionEvent::Kind::kDisconnected), 1U);
  EXPECT_FALSE(end.end_reason().code) << end.end_reason().message;
}

void expect_broken(const SimEnd& end, const std::string& words) {
  ASSERT_EQ(end.count(ConnectionEvent::Kind::kDisconnected), 1U);
  EXPECT_TRUE(end.end_reason().code);
  EXPECT_NE(end.end_reason().message.find(words), std::string::npos) << end.end_reason().message;
}

}  // namespace iwarp::verbs::simtest
