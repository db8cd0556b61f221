#include "support/failing_sends.hpp"

#include <dlfcn.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>

namespace iwarp::test {
namespace {

std::atomic<int> failing_with{0};
std::atomic<int> failed{0};

}  // namespace

FailingSends::FailingSends(int error) {
  failed = 0;
  failing_with = error;
}

FailingSends::~FailingSends() { failing_with = 0; }

int FailingSends::count() { return failed; }

}  // namespace iwarp::test

// In front of the C library's, for everything in this program.
extern "C" ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  static const auto next = reinterpret_cast<decltype(&sendmsg)>(::dlsym(RTLD_NEXT, "sendmsg"));
  if (const int error = iwarp::test::failing_with) {
    ++iwarp::test::failed;
    errno = error;
    return -1;
  }
  return next(socket, message, flags);
}
