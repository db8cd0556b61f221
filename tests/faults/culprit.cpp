// A program that does what is wrong when a system call fails, for the tests of the judge:
//
//   culprit MODE            copies "in" to "out"; where it cannot open "in" it does MODE
//   culprit server PORT     answers each client, and ends when one cannot be accepted
//   culprit touchy PORT     so does this one, and ends also when a client does not thank it
//   culprit client PORT     waits for the answer, and thanks
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "support/loopback_address.hpp"

namespace {

void write_file(const char* name, const char* content) {
  const int file = ::open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (::write(file, content, std::strlen(content)) < 0) std::perror(name);
  ::close(file);
}

int fail_as(const std::string& mode) {
  if (mode == "crash") std::abort();
  while (mode == "hang") ::pause();
  if (mode == "wrong") return write_file("out", "other"), 0;
  if (mode == "leave") write_file("out.tmp", "half");
  if (mode == "vague") std::fprintf(stderr, "it did not work\n");
  if (mode != "vague") std::fprintf(stderr, "in: %s\n", std::strerror(errno));
  return 1;
}

int copy(const std::string& mode) {
  const int file = ::open("in", O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail_as(mode);
  ::close(file);
  write_file("out", "whole");
  return 0;
}

sockaddr_in address(const char* port) {
  return iwarp::test::loopback(static_cast<std::uint16_t>(std::atoi(port)));
}

int serve(const sockaddr_in& at, bool touchy) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* const where = reinterpret_cast<const sockaddr*>(&at);
  if (::bind(listener, where, sizeof at) != 0 || ::listen(listener, 8) != 0) return 1;
  for (;;) {
    // Accepting begins when there is a client, not before something is to fail.
    pollfd waits{listener, POLLIN, 0};
    if (::poll(&waits, 1, -1) < 0) return std::perror("poll"), 1;
    const int peer = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0) return std::perror("accept"), 1;
    if (::send(peer, "!", 1, MSG_NOSIGNAL) != 1) std::perror("send");
    char thanks = 0;
    if (touchy && ::recv(peer, &thanks, 1, 0) != 1) return 1;
    ::close(peer);
  }
}

int ask(const sockaddr_in& at) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  char answer = 0;
  const bool answered = ::connect(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
                        ::recv(socket, &answer, 1, 0) == 1;
  if (answered) ::send(socket, ".", 1, MSG_NOSIGNAL);
  return answered ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string mode = argv[1];
  if (argc < 3) return copy(mode);
  const sockaddr_in at = address(argv[2]);
  return mode == "client" ? ask(at) : serve(at, mode == "touchy");
}
