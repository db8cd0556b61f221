#include "perf/raw/raw_flows.hpp"

#include <algorithm>
#include <array>

#include "context.hpp"

namespace iwarp::cli::perf {
namespace {

using Clock = RawClient::Clock;

constexpr std::size_t kReceiveBuffer = 64U << 10U;
constexpr std::size_t kReadRequest = 16;
constexpr std::byte kLast{0xFF};

std::size_t receive_buffer(const Workload& workload) {
  return std::max<std::size_t>(workload.size, kReceiveBuffer);
}

std::size_t request_size(const Workload& workload) {
  return workload.operation == Operation::kRead ? kReadRequest : workload.size;
}

/// Sends messages for a while, and then one that ends the stream; returns how many.
std::uint64_t send_messages(RawStream& stream, MutableBytes message, Clock::time_point deadline) {
  std::uint64_t count = 1;
  for (; Clock::now() < deadline; ++count) stream.send_all(message);
  message.back() = kLast;
  stream.send_all(message);
  message.back() = std::byte{0};
  return count;
}

/// Receives up to the octet that ends the stream; returns how many messages.
std::uint64_t receive_messages(RawStream& stream, MutableBytes buffer, std::uint32_t size) {
  std::uint64_t octets = 0;
  while (true) {
    const std::size_t n = stream.receive_some(buffer);
    octets += n;
    if (buffer[n - 1] == kLast) break;
  }
  if (octets % size != 0) throw CommandError("raw TCP: the peer sent half a message");
  return octets / size;
}

}  // namespace

RawClient::RawClient(RawStream stream, const Workload& workload)
    : stream_(std::move(stream)),
      workload_(workload),
      message_(std::max<std::size_t>(workload.size, kReadRequest)),
      incoming_(receive_buffer(workload)) {}

std::uint64_t RawClient::run(Clock::time_point deadline, Histogram& latencies) {
  stream_.patience().renew();
  if (workload_.figure == Figure::kLatency) return ping_pong(deadline, latencies);
  return workload_.operation == Operation::kRead ? receive_stream() : send_stream(deadline);
}

std::uint64_t RawClient::send_stream(Clock::time_point deadline) {
  const std::uint64_t count =
      send_messages(stream_, message_.bytes().first(workload_.size), deadline);
  std::array<std::byte, sizeof(std::uint64_t)> arrived{};
  stream_.receive_all(arrived);
  if (load_be<std::uint64_t>(arrived.data()) != count) {
    throw CommandError("raw TCP: not all messages arrived");
  }
  return count;
}

std::uint64_t RawClient::receive_stream() {
  return receive_messages(stream_, incoming_.bytes(), workload_.size);
}

std::uint64_t RawClient::ping_pong(Clock::time_point deadline, Histogram& latencies) {
  const MutableBytes request = message_.bytes().first(request_size(workload_));
  const MutableBytes answer = incoming_.bytes().first(workload_.size);
  std::uint64_t count = 0;
  auto before = Clock::now();
  for (bool last = false; !last; ++count) {
    last = before >= deadline;
    request.back() = last ? kLast : std::byte{0};
    stream_.send_all(request);
    stream_.receive_all(answer);
    const auto after = Clock::now();
    latencies.add(after - before);
    before = after;
  }
  return count;
}

RawServer::RawServer(RawStream stream, const Workload& workload)
    : stream_(std::move(stream)),
      workload_(workload),
      message_(workload.size),
      incoming_(receive_buffer(workload)) {}

std::uint64_t RawServer::run(std::chrono::nanoseconds duration) {
  stream_.patience().renew();
  if (workload_.figure == Figure::kLatency) return answer();
  return workload_.operation == Operation::kRead ? send_stream(duration) : receive_stream();
}

std::uint64_t RawServer::receive_stream() {
  const std::uint64_t count = receive_messages(stream_, incoming_.bytes(), workload_.size);
  std::array<std::byte, sizeof count> arrived{};
  store_be(arrived.data(), count);
  stream_.send_all(arrived);
  return count;
}

std::uint64_t RawServer::send_stream(std::chrono::nanoseconds duration) {
  return send_messages(stream_, message_.bytes(), Clock::now() + duration);
}

std::uint64_t RawServer::answer() {
  const MutableBytes request = incoming_.bytes().first(request_size(workload_));
  const ConstBytes reply =
      workload_.operation == Operation::kRead ? message_.bytes() : ConstBytes(request);
  std::uint64_t count = 0;
  for (bool last = false; !last; ++count) {
    stream_.receive_all(request);
    last = request.back() == kLast;
    stream_.send_all(reply);
  }
  return count;
}

}  // namespace iwarp::cli::perf
