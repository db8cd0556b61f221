// Where a payload that a program of the C interface writes is when the system is to take it: the
// argument, `copied` or `referenced`. What the environment promises is read once per process.
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include "compat/long_write.hpp"
#include "compat/pair.hpp"

namespace {

using namespace iwarp::compat_test;

constexpr std::uint32_t kSize = 40000;
std::vector<char> source(kSize, 'x'), sink(kSize);
std::atomic<std::size_t> referenced{0};

void look_at(std::span<const iovec> pieces) {
  for (const iovec& piece : pieces) {
    const auto* at = static_cast<const char*>(piece.iov_base);
    if (at >= source.data() && at < source.data() + kSize) referenced += piece.iov_len;
  }
}

}  // namespace

// The library's calls come here, as this program's symbols are found first.
extern "C" [[gnu::visibility("default")]] ssize_t sendmsg(int socket, const msghdr* message,
                                                          int flags) {
  using Call = ssize_t (*)(int, const msghdr*, int);
  static const auto next = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "sendmsg"));
  look_at({message->msg_iov, message->msg_iovlen});
  return next(socket, message, flags);
}

int main(int, char** arguments) {
  ::alarm(30);
  Pair pair;
  if (const int failed = write_across(pair, source, sink); failed != 0) return failed;
  std::printf("%zu of %u octets were referenced\n", referenced.load(), kSize);
  return (referenced.load() != 0) == (arguments[1] == std::string_view("referenced")) ? 0 : 1;
}
