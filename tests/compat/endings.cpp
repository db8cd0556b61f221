// Programs that give nothing back, each an argument. The status is 0 if all went as it should.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "compat/pair.hpp"

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

}  // namespace

int main(int, char** arguments) {
  ::alarm(30);
  const std::string_view ending = arguments[1];
  open_pair = new Pair;
  send_one();
  if (ending == "exits_with_everything_open") return 0;
  if (ending == "sends_from_an_exit_handler") return std::atexit(&send_one);
  if (ending == "ends_in_a_child") return ends_in_a_child();
  std::fprintf(stderr, "no such ending\n");
  return 2;
}
