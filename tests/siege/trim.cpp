// Preloaded into a besieged server: has the allocator give back what is free whenever something is
// written to the FIFO that SIEGE_TRIM names. Then resident memory is what the program holds, and
// not what glibc keeps for the next crowd.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <thread>

namespace {

[[gnu::constructor]] void wait_for_orders() {
  const char* const path = std::getenv("SIEGE_TRIM");
  if (path == nullptr) return;
  const int fifo = ::open(path, O_RDWR | O_CLOEXEC);
  if (fifo < 0) return;
  try {
    std::thread([fifo] {
      char order = 0;
      while (::read(fifo, &order, 1) == 1) ::malloc_trim(0);
    }).detach();
  } catch (const std::system_error&) {
    ::close(fifo);
  }
}

}  // namespace
