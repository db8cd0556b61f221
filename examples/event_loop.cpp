// The verbs without the Asio layer, in an event loop of one's own (event_loop.hpp): an echo server
// for any number of clients in one thread, and a client.
//
//   event_loop server 7471
//   event_loop client 127.0.0.1 7471
//   event_loop                          both in this process, each with a loop in its own thread
#include "event_loop.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

using namespace iwarp::verbs;
using examples::event_loop, examples::must;

namespace {

// One client of the server. Each slot of its memory is posted as a receive again before what it got
// is answered: the client's next message may come right behind the answer. The session ends when
// all receives have, as they do with the connection.
class echo_session {
 public:
  echo_session(event_loop& loop, ProtectionDomain& pd)
      : memory_(kSlots * kSlotSize),
        region_(must(pd.register_memory(memory_, Access::kLocalWrite))),
        qp_(must(pd.create_qp(loop.queue()))) {
    for (std::uint64_t slot = 0; slot < kSlots; ++slot) receive(slot);
  }

  [[nodiscard]] QueuePair& qp() { return qp_; }
  // False after the last completion of a receive.
  bool on_completion(const Completion& done) {
    if (done.wr_id == kAnswer) return true;  // of one that was flushed
    if (done.status != Status::kSuccess) {
      ++ended_;
    } else {
      std::array<std::byte, kSlotSize> message;
      const auto at = memory_.begin() + static_cast<std::ptrdiff_t>(done.wr_id * kSlotSize);
      std::copy_n(at, done.byte_length, message.begin());
      receive(done.wr_id);
      answer(std::span(message).first(done.byte_length));
    }
    return ended_ < kSlots;
  }

 private:
  // As large as what may go inline, which is copied by the post.
  static constexpr std::uint64_t kSlots = 8, kSlotSize = QpCapacity{}.max_inline, kAnswer = kSlots;

  void receive(std::uint64_t slot) {
    const Sge where = region_.sge(slot * kSlotSize, kSlotSize);
    if (!qp_.post_receive({.wr_id = slot, .sges = {&where, 1}})) ++ended_;
  }
  void answer(std::span<std::byte> message) {
    const Sge what = inline_sge(message);
    if (!qp_.post_send({.wr_id = kAnswer, .flags = SendFlags::kInline, .sges = {&what, 1}})) {
      qp_.disconnect();
    }
  }

  std::vector<std::byte> memory_;
  MemoryRegion region_;
  QueuePair qp_;
  std::uint64_t ended_ = 0;
};

class echo_server {
 public:
  echo_server(Device& device, const Endpoint& at)
      : loop_(device),
        pd_(must(device.alloc_pd())),
        // The handler runs on a thread of the device: it passes the request on to the loop.
        listener_(must(device.listen(at, {}, [this](ConnectionRequest request) {
          auto kept = std::make_shared<ConnectionRequest>(std::move(request));
          loop_.post([this, kept] { accept(*kept); });
        }))) {}

  [[nodiscard]] Endpoint endpoint() const { return listener_.endpoint(); }
  void run() { loop_.run(); }
  void stop() {
    loop_.post([this] { loop_.stop(); });
  }

 private:
  void accept(ConnectionRequest& request) {
    auto session = std::make_unique<echo_session>(loop_, pd_);
    const std::uint32_t number = session->qp().number();
    if (const auto accepted = request.start_accept(session->qp()); !accepted) {
      std::cerr << "event_loop: " << accepted.error().message << '\n';
      return;
    }
    sessions_[number] = std::move(session);
    loop_.add(number, [this, number](const Completion& done) {
      if (sessions_[number]->on_completion(done)) return;
      loop_.remove(number);
      sessions_.erase(number);
    });
  }

  event_loop loop_;
  ProtectionDomain pd_;
  std::map<std::uint32_t, std::unique_ptr<echo_session>> sessions_;
  Listener listener_;  // destroyed first: its handler uses the others
};

void run_client(Device& device, const Endpoint& server) {
  constexpr int kRounds = 1000;
  event_loop loop(device);
  auto pd = must(device.alloc_pd());
  std::string sent = "hello over iWARP", received(sent.size(), '.');
  const auto from =
      must(pd.register_memory(std::as_writable_bytes(std::span(sent)), Access::kNone));
  const auto into =
      must(pd.register_memory(std::as_writable_bytes(std::span(received)), Access::kLocalWrite));
  auto qp = must(pd.create_qp(loop.queue()));
  int rounds = 0;
  const auto ask = [&] {
    const Sge where = into.sge(), what = from.sge();
    if (!qp.post_receive({.sges = {&where, 1}}) || !qp.post_send({.sges = {&what, 1}}))
      throw std::runtime_error(qp.diagnosis().to_string());
  };
  loop.add(qp.number(), [&](const Completion& done) {
    if (done.status != Status::kSuccess) throw std::runtime_error(qp.diagnosis().to_string());
    if (done.opcode != CompletionOpcode::kReceive) return;
    if (received != sent) throw std::runtime_error("another echo than expected");
    received.assign(sent.size(), '.');
    ++rounds < kRounds ? ask() : loop.stop();
  });
  must(qp.connect(server));
  ask();
  loop.run();
  qp.disconnect();
  qp.wait_disconnected(std::chrono::seconds(10));
  std::cout << rounds << " echoes\n";
}

void run(const examples::command_line& given) {
  examples::block_interrupts();
  Device device = must(Device::open());
  if (!given.server) {
    run_client(device, examples::address_of(given));
    return;
  }
  echo_server server(device, examples::address_of(given));
  if (!given.client) {
    std::cout << "listens at " << server.endpoint() << std::endl;
    server.run();
    return;
  }
  const std::jthread other([&] { server.run(); });
  const struct stop_at_the_end {
    echo_server& server;
    ~stop_at_the_end() { server.stop(); }
  } then{server};
  run_client(device, server.endpoint());
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run(argc, argv, "event_loop [server PORT | client ADDRESS PORT]", run);
}
