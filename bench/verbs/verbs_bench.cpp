#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "end.hpp"

namespace iwarp::bench {
namespace {

constexpr const char* kUsage =
    "Measures what the libibverbs and librdmacm that it finds do on loopback, between two "
    "processes.\n"
    "\n"
    "usage: verbs_bench [options]\n"
    "  --op OP        write (default), read or send\n"
    "  --size N       octets of a message (64)\n"
    "  --pairs N      queue pairs (1)\n"
    "  --depth N      messages under way, of all queue pairs together (64)\n"
    "  --events       both ends sleep instead of polling\n"
    "  --seconds S    to measure (1); 0: only connect\n"
    "  -h, --help     this text\n"
    "\n"
    "Prints one JSON object: messages a second, connections a second, and octets of memory for a "
    "queue\n"
    "pair that is idle (those two with more than one queue pair).\n";

[[noreturn]] void refuse() {
  std::fputs(kUsage, stderr);
  std::exit(2);
}

Op op_of(std::string_view name) {
  if (name == "write") return Op::kWrite;
  if (name == "read") return Op::kRead;
  if (name == "send") return Op::kSend;
  refuse();
}

std::uint32_t number_of(const char* text) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value == 0 || value > UINT32_MAX) refuse();
  return static_cast<std::uint32_t>(value);
}

double seconds_of(const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*text == '\0' || *end != '\0' || !(value >= 0)) refuse();
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "-h" || name == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (name == "--events") {
      options.events = true;
      continue;
    }
    if (++i == argc) refuse();
    if (name == "--op") {
      options.op = op_of(argv[i]);
    } else if (name == "--size") {
      options.size = number_of(argv[i]);
    } else if (name == "--pairs") {
      options.pairs = number_of(argv[i]);
    } else if (name == "--depth") {
      options.depth = number_of(argv[i]);
    } else if (name == "--seconds") {
      options.seconds = seconds_of(argv[i]);
    } else {
      refuse();
    }
  }
  return options;
}

// Shells grant 1,024, and each queue pair has one for its socket at both ends.
void take_descriptors() {
  rlimit limit{};
  require(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
  limit.rlim_cur = limit.rlim_max;
  require(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

// The server is a process of its own, and ends with this one.
pid_t start_server(const Options& options, std::uint16_t& port) {
  int ends[2];
  require(pipe(ends) == 0, "pipe");
  const pid_t server = fork();
  require(server >= 0, "fork");
  if (server == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    serve(options, ends[1]);
  }
  close(ends[1]);
  require(read(ends[0], &port, sizeof port) == sizeof port, "the server did not start");
  return server;
}

int run(const Options& options) {
  take_descriptors();
  std::uint16_t port = 0;
  const pid_t server = start_server(options, port);
  End end(options);
  const Result result = run_client(end, port);
  std::printf(
      "{\"messages_per_second\": %.1f, \"connections_per_second\": %.1f, \"octets_per_pair\": "
      "%.1f}\n",
      result.messages_per_second, result.connections_per_second, result.octets_per_pair);
  std::fflush(stdout);
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  std::_Exit(0);  // nothing is left to measure
}

}  // namespace
}  // namespace iwarp::bench

int main(int argc, char** argv) { return iwarp::bench::run(iwarp::bench::parse(argc, argv)); }
