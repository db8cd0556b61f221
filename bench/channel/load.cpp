#include "load.hpp"

#include "sockets.hpp"

namespace iwarp::bench::channel {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kAllConnected = 1;
constexpr unsigned kTurnsPerLook = 16;  // at the clock

}  // namespace

Measured measure(const std::string& address, std::uint16_t port, const Task& task,
                 std::chrono::nanoseconds duration) {
  Control control(connect_to(endpoint(address, port)));
  control.say(task);
  const auto where = control.hear<Where>();
  const auto make = task.transport == Transport::kTcp ? make_tcp_load : make_verbs_load;
  const auto load = make(address, where.port, task);
  control.say(kAllConnected);
  Measured measured;
  const auto cpu = cpu_time();
  const auto begin = Clock::now();
  if (duration.count() > 0) load->begin();
  for (unsigned turns = 0; duration.count() > 0; ++turns) {
    load->turn();
    if (turns % kTurnsPerLook == 0 && Clock::now() - begin >= duration) break;
  }
  measured.client_cpu = cpu_time() - cpu;
  measured.time = Clock::now() - begin;
  control.finish();
  const auto seen = control.hear<Seen>();
  measured.exchanges = seen.exchanges;
  measured.server_cpu = std::chrono::nanoseconds(seen.cpu_nanoseconds);
  return measured;
}

}  // namespace iwarp::bench::channel
