// Programs that give nothing back, each an argument. The status is 0 if all went as it should.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "compat/pair.hpp"
#include "support/paused_peer.hpp"

namespace {

using iwarp::compat_test::Pair;

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

}  // namespace

int main(int, char** arguments) {
  ::alarm(30);
  const std::string_view ending = arguments[1];
  if (ending == "leaves_sends_behind") return leaves_sends_behind();
  open_pair = new Pair;
  send_one();
  if (ending == "exits_with_everything_open") return 0;
  if (ending == "sends_from_an_exit_handler") return std::atexit(&send_one);
  if (ending == "ends_in_a_child") return ends_in_a_child();
  std::fprintf(stderr, "no such ending\n");
  return 2;
}
