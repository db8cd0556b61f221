#include "exchange.hpp"

#include <algorithm>
#include <ctime>
#include <stdexcept>

namespace iwarp::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSmallestBuffer = 64U << 10U;

template <typename Value>
auto bytes_of(Value& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::vector<std::byte> buffer_for(const Task& task) {
  return std::vector<std::byte>(std::max<std::size_t>(task.size, kSmallestBuffer));
}

void send_stream(Stream& stream, const Task& task, Clock::time_point until) {
  const auto buffer = buffer_for(task);
  const auto piece = std::span(buffer).first(task.size);
  do {
    stream.send(piece);
  } while (Clock::now() < until);
}

std::vector<std::chrono::nanoseconds> send_pings(Stream& stream, const Task& task,
                                                 Clock::time_point until) {
  auto buffer = buffer_for(task);
  const auto ping = std::span(buffer).first(task.size);
  std::vector<std::chrono::nanoseconds> round_trips;
  for (auto before = Clock::now(); before < until;) {
    stream.send(ping);
    if (!stream.receive_all(ping)) throw std::runtime_error("the server has gone");
    const auto after = Clock::now();
    round_trips.push_back(after - before);
    before = after;
  }
  return round_trips;
}

std::uint64_t take_stream(Stream& stream, const Task& task) {
  auto buffer = buffer_for(task);
  std::uint64_t octets = 0;
  while (const std::size_t got = stream.receive(buffer)) octets += got;
  return octets;
}

std::uint64_t answer_pings(Stream& stream, const Task& task) {
  auto buffer = buffer_for(task);
  const auto ping = std::span(buffer).first(task.size);
  std::uint64_t octets = 0;
  for (; stream.receive_all(ping); octets += task.size) stream.send(ping);
  return octets;
}

}  // namespace

Measured run_client(Stream& stream, const Task& task, std::chrono::nanoseconds duration) {
  stream.wait_by(task.wait);
  Task told = task;
  stream.send(bytes_of(told));
  Measured measured;
  const auto cpu = cpu_time();
  const auto begin = Clock::now();
  if (task.shape == Shape::kStream) {
    send_stream(stream, task, begin + duration);
  } else {
    measured.round_trips = send_pings(stream, task, begin + duration);
  }
  measured.client_cpu = cpu_time() - cpu;
  stream.finish();
  Seen seen;
  if (!stream.receive_all(bytes_of(seen))) throw std::runtime_error("the server has gone");
  measured.time = Clock::now() - begin;
  measured.octets = seen.octets;
  measured.server_cpu = std::chrono::nanoseconds(seen.cpu_nanoseconds);
  return measured;
}

std::optional<Task> hear(Stream& stream) {
  Task task;
  if (!stream.receive_all(bytes_of(task))) return {};
  if (task.shape > Shape::kPingPong || task.wait > Wait::kEpoll || task.size == 0 ||
      task.size > kLargestSize) {
    throw std::runtime_error("a client asks for what there is not");
  }
  return task;
}

void serve(Stream& stream, const Task& task) {
  stream.wait_by(task.wait);
  Seen seen;
  const auto cpu = cpu_time();
  seen.octets =
      task.shape == Shape::kStream ? take_stream(stream, task) : answer_pings(stream, task);
  seen.cpu_nanoseconds = static_cast<std::uint64_t>((cpu_time() - cpu).count());
  stream.send(bytes_of(seen));
}

}  // namespace iwarp::bench
