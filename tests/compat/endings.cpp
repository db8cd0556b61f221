// Programs that give nothing back, each an argument. The status is 0 if all went as it should, 77
// where it cannot.
#include <dlfcn.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

#include "compat/pair.hpp"
#include "support/forked_child.hpp"
#include "support/paused_peer.hpp"
#include "support/sanitizers.hpp"

namespace {

using namespace iwarp::compat_test;
using namespace std::chrono_literals;
using iwarp::test::Pipe;

constexpr int kSkipped = 77;

Pair* open_pair = nullptr;

void send_one() {
  if (open_pair->client.post_send(1, open_pair->client.sge()) != 0) ::_exit(3);
}

int ends_in_a_child() {
  const pid_t child = iwarp::test::fork_for();
  if (child == 0) std::exit(0);  // with the handlers and the static objects of its parent
  int status = -1;
  ::waitpid(child, &status, 0);
  if (status != 0) return 4;
  open_pair->expect_alive();
  return testing::Test::HasFailure() ? 5 : 0;
}

// The library has to do without the program for as long as that takes: its peer still says
// something, which a process that had gone would answer by a reset, and reads only then, after
// twice `pause`. `last_act` is what the program does before it ends.
int ends_before_its_sends(std::chrono::milliseconds pause, void (*last_act)()) {
  constexpr std::size_t kMessages = 30;
  constexpr std::size_t kSize = 65536;
  iwarp::test::PausedPeer peer;
  int done[2];
  if (::pipe(done) != 0) return 6;
  const pid_t child = iwarp::test::fork_for();
  if (child == 0) {
    const std::size_t count = iwarp::compat_test::send_to(peer.port(), kMessages, kSize);
    if (::write(done[1], &count, sizeof count) != sizeof count) ::_exit(7);
    last_act();
    std::exit(0);
  }
  peer.accept();
  std::size_t count = 0;
  if (::read(done[0], &count, sizeof count) != sizeof count || count < 4) return 8;
  std::this_thread::sleep_for(pause);
  const unsigned char some[] = {0, 40, 0x41};  // of an FPDU
  peer.send(some);
  std::this_thread::sleep_for(pause);
  const auto got = peer.read_to_end();
  int status = -1;
  ::waitpid(child, &status, 0);
  std::fprintf(stderr, "%zu octets of %zu messages, errno %d, status %d\n", got.octets, count,
               got.error, status);
  return got.error == 0 && got.octets >= count * kSize && status == 0 ? 0 : 9;
}

int leaves_sends_behind() {
  return ends_before_its_sends(100ms, [] {});
}

// As rping's does if it is slow to ask for what comes after the last event. The end lasts longer
// than the second after which such a thread is told while the program goes on.
int leaves_a_thread_that_came_to_a_destroyed_channel() {
  return ends_before_its_sends(800ms, [] {
    rdma_event_channel* const channel = rdma_create_event_channel();
    rdma_destroy_event_channel(channel);
    std::thread([channel] {
      rdma_cm_event* event = nullptr;
      ::_exit(rdma_get_cm_event(channel, &event) + 10);
    }).detach();
  });
}

// Threads that wait and poll while the first one has left: libiscsi frees what its own works with,
// and lets it wait.
int tells_no_thread_of_its_end() {
  open_pair = new Pair;
  const End& client = open_pair->client;
  if (open_pair->client.post_receive(1) != 0) return 3;
  rdma_event_channel* const events = rdma_create_event_channel();
  must(rdma_migrate_id(client.id, events), "rdma_migrate_id");
  must(ibv_req_notify_cq(open_pair->server.id->recv_cq, 0), "ibv_req_notify_cq");
  std::atomic<int> ready{0};
  const auto apart = [&ready](auto wait) {
    std::thread([&ready, wait] {
      ++ready;
      ::_exit(wait());
    }).detach();
  };
  apart([events] {
    rdma_cm_event* event = nullptr;
    return rdma_get_cm_event(events, &event) + 10;
  });
  apart([channel = open_pair->server.id->recv_cq_channel] {
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    return ibv_get_cq_event(channel, &queue, &context) + 20;
  });
  apart([queue = client.id->recv_cq] {
    ibv_wc done{};
    while (ibv_poll_cq(queue, 1, &done) == 0) std::this_thread::yield();
    return 30;
  });
  while (ready != 3) std::this_thread::yield();
  return 0;
}

// The thread that sleeps, and reads what comes meanwhile, is the one that ends the process: what
// the peer says to that has to be read by another.
int exits_in_a_handler_of_the_sleeper() {
  if (iwarp::test::kThreadSanitizer) return kSkipped;  // it forbids to allocate in a handler
  Pipe port, told;
  const pid_t child = iwarp::test::fork_for();
  if (child == 0) {
    End server;
    sockaddr_in at{};
    rdma_cm_id* const listener = listen(at);
    port.write(at.sin_port);
    must(rdma_get_request(listener, &server.id), "rdma_get_request");
    server.make_qp();
    must(server.post_receive(1), "ibv_post_recv");
    must(server.post_receive(2), "ibv_post_recv");
    must(rdma_accept(server.id, nullptr), "rdma_accept");
    completion_of(server.id->recv_cq);
    must(ibv_req_notify_cq(server.id->recv_cq, 0), "ibv_req_notify_cq");
    ::signal(SIGTERM, [](int) { std::exit(0); });
    told.write(true);
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    ::_exit(ibv_get_cq_event(server.id->recv_cq_channel, &queue, &context) + 10);
  }
  End client;
  sockaddr_in to = loopback(ntohs(port.read<__be16>()));
  client.id = resolve(to);
  client.make_qp();
  must(rdma_connect(client.id, nullptr), "rdma_connect");
  must(client.post_send(1, client.sge()), "ibv_post_send");
  static_cast<void>(told.read<bool>());
  while (!iwarp::test::sleeps(child)) std::this_thread::yield();
  const auto began = std::chrono::steady_clock::now();
  ::kill(child, SIGTERM);
  int status = -1;
  ::waitpid(child, &status, 0);
  const auto took = std::chrono::steady_clock::now() - began;
  // It waits two seconds for a peer that says nothing to its end.
  return status == 0 && took < 1500ms ? 0 : 5;
}

// A library that is unloaded behind ours may still come, in the thread that ends the process: its
// calls come back, as they do before.
int disconnects_in_a_late_destructor(const char* module) {
  open_pair = new Pair;
  void* const late = ::dlopen(module, RTLD_NOW);
  if (late == nullptr) return 3;
  auto* const act = static_cast<void (**)()>(::dlsym(late, "act_at_the_end"));
  if (act == nullptr) return 4;
  *act = [] {
    if (rdma_disconnect(open_pair->client.id) != 0) ::_exit(5);
    ::_exit(0);
  };
  return 6;
}

// As daemon(3) does it: the parent has left, and the child lives on with what it has inherited.
int becomes_a_daemon_after_listening() {
  Pipe ports, lives, answers, errors;
  const pid_t first = iwarp::test::fork_for();
  if (first == 0) {
    sockaddr_in at{};
    rdma_cm_id* const listener = listen(at);
    ports.write(at.sin_port);
    if (iwarp::test::fork_for() != 0) ::_exit(0);
    ::dup2(errors.writer(), STDERR_FILENO);
    rdma_cm_id* id = nullptr;
    for (int i = 0; i < 2; ++i) {
      const bool told = rdma_get_request(listener, &id) == -1 && errno == ENODEV;
      answers.write(told);
    }
    lives.close_writer();
    static_cast<void>(lives.read_all());
    ::_exit(0);
  }
  sockaddr_in to = loopback(ntohs(ports.read<__be16>()));
  int status = -1;
  if (::waitpid(first, &status, 0) != first || status != 0) return 6;
  if (!answers.read<bool>() || !answers.read<bool>()) return 7;
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(socket, plain(to), sizeof to) == 0 || errno != ECONNREFUSED) return 8;
  ::close(socket);
  lives.close_writer();
  errors.close_writer();
  const std::string said = errors.read_all();
  const std::size_t once = said.find("was forked");
  if (once == said.npos || said.find("was forked", once + 1) != said.npos) return 9;
  return 0;
}

}  // namespace

int main(int, char** arguments) {
  ::alarm(30);
  const std::string_view ending = arguments[1];
  if (ending == "leaves_sends_behind") return leaves_sends_behind();
  if (ending == "leaves_a_thread_that_came_to_a_destroyed_channel") {
    return leaves_a_thread_that_came_to_a_destroyed_channel();
  }
  if (ending == "exits_in_a_handler_of_the_sleeper") return exits_in_a_handler_of_the_sleeper();
  if (ending == "tells_no_thread_of_its_end") return tells_no_thread_of_its_end();
  if (ending == "disconnects_in_a_late_destructor") {
    return disconnects_in_a_late_destructor(arguments[2]);
  }
  if (ending == "becomes_a_daemon_after_listening") return becomes_a_daemon_after_listening();
  open_pair = new Pair;
  send_one();
  if (ending == "exits_with_everything_open") return 0;
  if (ending == "sends_from_an_exit_handler") return std::atexit(&send_one);
  if (ending == "ends_in_a_child") return ends_in_a_child();
  std::fprintf(stderr, "no such ending\n");
  return 2;
}
