// How long the ULPDU of the first FPDU is that a program of the C interface makes of a long Write
// on a connection of small segments: within the two arguments. The environment is read once per
// process.
#include <dlfcn.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <span>
#include <vector>

#include "compat/long_write.hpp"
#include "compat/pair.hpp"

namespace {

using namespace iwarp::compat_test;

constexpr int kSegment = 1460;
constexpr std::uint32_t kSize = 40000;
std::vector<char> source(kSize, 'x'), sink(kSize);
std::atomic<unsigned> first_ulpdu{0};

// A connection begins with frames that are shorter than a segment.
void look_at(std::span<const iovec> pieces) {
  std::size_t octets = 0;
  for (const iovec& piece : pieces) octets += piece.iov_len;
  if (octets < kSegment / 2 || first_ulpdu != 0) return;
  const auto* at = static_cast<const unsigned char*>(pieces.front().iov_base);
  first_ulpdu = at[0] * 256U + at[1];
}

template <typename Call>
Call next_of(const char* name) {
  return reinterpret_cast<Call>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// The library's calls come here, as this program's symbols are found first.
extern "C" [[gnu::visibility("default")]] ssize_t sendmsg(int socket, const msghdr* message,
                                                          int flags) {
  static const auto next = next_of<ssize_t (*)(int, const msghdr*, int)>("sendmsg");
  look_at({message->msg_iov, message->msg_iovlen});
  return next(socket, message, flags);
}

extern "C" [[gnu::visibility("default")]] int socket(int domain, int type, int protocol) {
  static const auto next = next_of<int (*)(int, int, int)>("socket");
  const int made = next(domain, type, protocol);
  ::setsockopt(made, IPPROTO_TCP, TCP_MAXSEG, &kSegment, sizeof kSegment);
  return made;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto least = static_cast<unsigned>(std::atoi(argv[1]));
  const auto most = static_cast<unsigned>(std::atoi(argv[2]));
  ::alarm(30);
  Pair pair;
  if (const int failed = write_across(pair, source, sink); failed != 0) return failed;
  std::printf("the first ULPDU has %u octets\n", first_ulpdu.load());
  return first_ulpdu >= least && first_ulpdu <= most ? 0 : 1;
}
