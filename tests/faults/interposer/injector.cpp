#include "injector.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace iwarp::faults {
namespace {

// What is to fail, from the environment (tests/faults/region.py): IWARP_FAULTS_REGION is the file,
// IWARP_FAULTS "CALL ERRNO FIRST STEP", and IWARP_FAULTS_PROGRAM the only program meant, since what
// starts it (`iwarp run`, a shell) has the same environment.
struct Plan {
  Call call = Call::kCount;
  int error = 0;
  std::uint64_t first = 0;  // the number of the first call that fails
  std::uint64_t step = 0;   // and of those behind it; 0: no other
};

constinit std::atomic<Region*> region{nullptr};
constinit Plan plan{};
// The C library's own start-up must work: this turns true at main().
constinit std::atomic<bool> in_main{false};
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_inside = false;

constexpr std::array kNames{
#define FAULT_CALL(name) #name,
#include "calls.def"
#undef FAULT_CALL
};

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "faults: %s\n", what);
  _exit(125);
}

Region* map_region(const char* path) {
  const long file = ::syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (file < 0) give_up("the region cannot be opened");
  void* const memory = reinterpret_cast<void*>(
      ::syscall(SYS_mmap, nullptr, sizeof(Region), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  ::syscall(SYS_close, file);
  if (memory == MAP_FAILED) give_up("the region cannot be mapped");
  return static_cast<Region*>(memory);
}

Plan parse(const char* text) {
  std::array<char, 32> name{};
  Plan parsed;
  if (std::sscanf(text, "%31s %d %lu %lu", name.data(), &parsed.error, &parsed.first,
                  &parsed.step) != 4) {
    give_up("IWARP_FAULTS is not CALL ERRNO FIRST STEP");
  }
  const auto found = std::find_if(kNames.begin(), kNames.end(), [&](const char* known) {
    return std::strcmp(known, name.data()) == 0;
  });
  if (found == kNames.end()) give_up("IWARP_FAULTS names no call");
  parsed.call = static_cast<Call>(found - kNames.begin());
  return parsed;
}

bool is_the_program() {
  const char* const meant = std::getenv("IWARP_FAULTS_PROGRAM");
  return meant == nullptr || std::strcmp(meant, program_invocation_short_name) == 0;
}

void note_place(Region& to) {
  std::array<void*, Region::kMostFrames> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  std::size_t used = 0;
  for (int i = 2; i < count; ++i) {  // without this function and the wrapper
    Dl_info info{};
    const auto* const address = static_cast<const char*>(frames[static_cast<std::size_t>(i)]);
    if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) continue;
    const int written = std::snprintf(
        to.place + used, sizeof to.place - used, "%s+0x%lx %s\n", info.dli_fname,
        static_cast<unsigned long>(address - static_cast<const char*>(info.dli_fbase) - 1),
        info.dli_sname == nullptr ? "" : info.dli_sname);
    used += static_cast<std::size_t>(std::max(written, 0));
    if (used >= sizeof to.place) break;
  }
}

bool is_due(std::uint64_t number) {
  if (number < plan.first) return false;
  return plan.step == 0 ? number == plan.first : (number - plan.first) % plan.step == 0;
}

// backtrace() loads a library the first time, which allocates.
void prepare() {
  const char* const path = std::getenv("IWARP_FAULTS_REGION");
  if (path == nullptr || !is_the_program()) return;
  std::array<void*, 1> frame{};
  ::backtrace(frame.data(), 1);
  Region* const mapped = map_region(path);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    std::snprintf(mapped->calls[i].name, sizeof mapped->calls[i].name, "%s", kNames[i]);
  }
  if (const char* const text = std::getenv("IWARP_FAULTS")) plan = parse(text);
  region = mapped;
}

using Main = int (*)(int, char**, char**);
Main program_main = nullptr;

int armed_main(int count, char** words, char** environment) {
  prepare();
  in_main = true;
  return program_main(count, words, environment);
}

}  // namespace

int fault_of(Call call) {
  if (!in_main.load(std::memory_order_relaxed) || is_inside) return 0;
  Region* const shared = region.load(std::memory_order_relaxed);
  if (shared == nullptr || shared->armed.load() == 0) return 0;
  const auto number = ++shared->calls[static_cast<std::size_t>(call)].made;
  if (call != plan.call || !is_due(number)) return 0;
  is_inside = true;
  const int before = errno;
  if (shared->fired.fetch_add(1) == 0) note_place(*shared);
  errno = before;
  is_inside = false;
  return plan.error;
}

Kind kind_of(int fd) {
  const int before = errno;
  struct stat about {};
  is_inside = true;
  const bool known = ::fstat(fd, &about) == 0;
  is_inside = false;
  errno = before;
  if (known && S_ISREG(about.st_mode)) return Kind::kFile;
  return known && (about.st_mode & S_IFMT) == 0 ? Kind::kEvent : Kind::kOther;
}

void* next_function(const char* name) {
  is_inside = true;  // dlsym() may allocate
  void* const found = ::dlsym(RTLD_NEXT, name);
  is_inside = false;
  if (found == nullptr) give_up(name);
  return found;
}

}  // namespace iwarp::faults

// The one function that a program calls right before its main().
extern "C" [[gnu::visibility("default")]] int
__libc_start_main(  // NOLINT(bugprone-reserved-identifier)
    iwarp::faults::Main main, int count, char** words, void (*init)(), void (*fini)(),
    void (*rtld_fini)(), void* stack_end) {
  using Start =
      int (*)(iwarp::faults::Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  iwarp::faults::program_main = main;
  const auto start = reinterpret_cast<Start>(iwarp::faults::next_function("__libc_start_main"));
  return start(iwarp::faults::armed_main, count, words, init, fini, rtld_fini, stack_end);
}
