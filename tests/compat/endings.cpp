// Programs that give nothing back, each an argument. The status is 0 if all went as it should.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "compat/pair.hpp"
#include "support/forked_child.hpp"
#include "support/paused_peer.hpp"

namespace {

using namespace iwarp::compat_test;
using iwarp::test::Pipe;

Pair* open_pair = nullptr;

void send_one() {
  if (open_pair->client.post_send(1, open_pair->client.sge()) != 0) ::_exit(3);
}

int ends_in_a_child() {
  const pid_t child = ::fork();
  if (child == 0) std::exit(0);  // with the handlers and the static objects of its parent
  int status = -1;
  ::waitpid(child, &status, 0);
  if (status != 0) return 4;
  open_pair->expect_alive();
  return testing::Test::HasFailure() ? 5 : 0;
}

// The library has to do without the program for as long as that takes: its peer still says
// something, which a process that had gone would answer by a reset, and reads only then.
int leaves_sends_behind() {
  constexpr std::size_t kMessages = 30;
  constexpr std::size_t kSize = 65536;
  iwarp::test::PausedPeer peer;
  int done[2];
  if (::pipe(done) != 0) return 6;
  const pid_t child = ::fork();
  if (child == 0) {
    const std::size_t count = iwarp::compat_test::send_to(peer.port(), kMessages, kSize);
    if (::write(done[1], &count, sizeof count) != sizeof count) ::_exit(7);
    std::exit(0);
  }
  peer.accept();
  std::size_t count = 0;
  if (::read(done[0], &count, sizeof count) != sizeof count || count < 4) return 8;
  ::usleep(100'000);
  const unsigned char some[] = {0, 40, 0x41};  // of an FPDU
  peer.send(some);
  ::usleep(100'000);
  const auto got = peer.read_to_end();
  int status = -1;
  ::waitpid(child, &status, 0);
  std::fprintf(stderr, "%zu octets of %zu messages, errno %d, status %d\n", got.octets, count,
               got.error, status);
  return got.error == 0 && got.octets >= count * kSize && status == 0 ? 0 : 9;
}

// As daemon(3) does it: the parent has left, and the child lives on with what it has inherited.
int becomes_a_daemon_after_listening() {
  Pipe ports, lives, answers, errors;
  const pid_t first = iwarp::test::fork_for();
  if (first == 0) {
    rdma_cm_id* listener = nullptr;
    sockaddr_in at = loopback();
    must(rdma_create_id(nullptr, &listener, nullptr, RDMA_PS_TCP), "rdma_create_id");
    must(rdma_bind_addr(listener, plain(at)), "rdma_bind_addr");
    must(rdma_listen(listener, 4), "rdma_listen");
    ports.write(rdma_get_src_port(listener));
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
  if (ending == "becomes_a_daemon_after_listening") return becomes_a_daemon_after_listening();
  open_pair = new Pair;
  send_one();
  if (ending == "exits_with_everything_open") return 0;
  if (ending == "sends_from_an_exit_handler") return std::atexit(&send_one);
  if (ending == "ends_in_a_child") return ends_in_a_child();
  std::fprintf(stderr, "no such ending\n");
  return 2;
}
