// Programs that fork, each an argument. The status is 0 if all went as it should.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "support/forked_child.hpp"
#include "verbs/process/fork_support.hpp"

namespace {

using namespace iwarp::verbs;
using namespace iwarp::verbs::test;
using iwarp::test::fork_for;
using iwarp::test::Pipe;

// The errno of a TCP connection to a port of this host.
int connect_error(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool connected = ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  const int error = connected ? 0 : errno;
  ::close(socket);
  return error;
}

int status_of(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

// The children return from main, through the destructors of all that it has.
int children_return_from_main() {
  Stream stream;
  const Listener listener = must(stream.pair.server.device.listen(kAnyPort));
  for (int i = 0; i < 5; ++i) {
    if (!stream.turn()) return 3;
    const pid_t child = fork_for(50);
    if (child == 0) return 0;
    if (status_of(child) != 0) return 4;
  }
  return stream.turns(50) ? 0 : 5;
}

// Recorders have a thread and files, and something to do at the end of the process.
int recorded_children_return_from_main() {
  std::string directory = std::filesystem::temp_directory_path() / "iwarp-fork-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) return 6;
  ::setenv("IWARP_CAPTURE", directory.c_str(), 1);
  const pid_t self = ::getpid();
  const int status = children_return_from_main();
  if (::getpid() == self) std::filesystem::remove_all(directory);
  return status;
}

// As daemon(3) does it: the parent has left, and the child lives on with what it has inherited.
int becomes_a_daemon_after_listening() {
  Pipe ports, lives, ready;
  const pid_t first = fork_for(50);
  if (first == 0) {
    Side side;
    const Listener listener = must(side.device.listen(kAnyPort));
    ports.write(listener.endpoint().port());
    if (fork_for(50) != 0) ::_exit(0);
    lives.close_writer();
    ready.write(char{1});
    static_cast<void>(lives.read_all());
    ::_exit(0);
  }
  const auto port = ports.read<std::uint16_t>();
  if (status_of(first) != 0) return 3;
  static_cast<void>(ready.read<char>());
  return connect_error(port) == ECONNREFUSED ? 0 : 4;
}

// The peer of a process that is gone hears of that, whatever its children live on.
int parent_dies_before_its_child() {
  Pipe ports, lives, connected;
  const pid_t first = fork_for(50);
  if (first == 0) {
    Side side;
    QueuePair qp = side.make_qp();
    if (!qp.connect({kAnyPort.address(), ports.read<std::uint16_t>()})) ::_exit(1);
    if (fork_for(50) != 0) {
      static_cast<void>(connected.read<char>());
      ::_exit(0);
    }
    lives.close_writer();
    static_cast<void>(lives.read_all());
    ::_exit(0);
  }
  Side side;
  Listener listener = must(side.device.listen(kAnyPort));
  ports.write(listener.endpoint().port());
  auto request = listener.next(20s);
  QueuePair qp = side.make_qp();
  if (!request || !request->accept(qp)) return 3;
  connected.write(char{1});
  if (status_of(first) != 0) return 4;
  return qp.wait_disconnected(20s) ? 0 : 5;
}

}  // namespace

int main(int, char** arguments) {
  ::alarm(50);
  const std::string_view ending = arguments[1];
  if (ending == "children_return_from_main") return children_return_from_main();
  if (ending == "recorded_children_return_from_main") return recorded_children_return_from_main();
  if (ending == "becomes_a_daemon_after_listening") return becomes_a_daemon_after_listening();
  if (ending == "parent_dies_before_its_child") return parent_dies_before_its_child();
  std::fprintf(stderr, "no such ending\n");
  return 2;
}
