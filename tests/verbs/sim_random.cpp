#include "verbs/sim_random.hpp"

#include <algorithm>

namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::Random;
using tcp_offload::SimRange;

SimRange random_range(Random& random, std::uint32_t most) {
  const std::uint32_t low = random.between(1, most);
  return {low, random.between(low, most)};
}

tcp_offload::SimOptions random_network(Random& random) {
  constexpr std::size_t kEmss[] = {8, 140, 536, 1460, 8960, 65483};
  constexpr std::uint32_t kBuffers[] = {8, 100, 4096, 65536};
  tcp_offload::SimOptions options;
  options.emss = kEmss[random.below(std::size(kEmss))];
  options.send_buffer = kBuffers[random.below(std::size(kBuffers))];
  options.receive_buffer = kBuffers[random.below(std::size(kBuffers))];
  if (random.one_in(2)) options.segment = random_range(random, 2000);
  if (random.one_in(3)) options.lend = random_range(random, 3000);
  if (random.one_in(3)) options.accept = random_range(random, 3000);
  if (random.one_in(3)) options.jitter = std::chrono::microseconds(50);
  if (random.one_in(3)) options.memory = tcp_offload::SimMemory::kReferenced;
  if (random.one_in(3)) options.release_lag = std::chrono::microseconds(random.below(300));
  if (random.one_in(2)) options.lending = tcp_offload::SimLending::kScratch;
  return options;
}

QpCapacity random_capacity(Random& random) {
  QpCapacity capacity;
  capacity.max_send_wr = random.between(1, 16);
  capacity.max_recv_wr = 64;
  capacity.max_send_sge = random.between(1, 6);
  capacity.max_recv_sge = random.between(1, 6);
  capacity.max_inline = random.one_in(2) ? 0 : 200;
  return capacity;
}

tcp_offload::Offloads random_offloads(Random& random) {
  using tcp_offload::Offload;
  const tcp_offload::Offloads kChoices[] = {
      {}, {}, {}, Offload::kCrc, Offload::kMarkers, Offload::kCrc | Offload::kMarkers};
  return kChoices[random.below(std::size(kChoices))];
}

mpa::Markers coin(Random& random) {
  return random.one_in(2) ? mpa::Markers::kOn : mpa::Markers::kOff;
}

}  // namespace

PairOptions random_pair(Random& random) {
  constexpr mpa::Rtr kRtrs[] = {mpa::Rtr::kNone, mpa::Rtr::kSend, mpa::Rtr::kWrite,
                                mpa::Rtr::kRead};
  PairOptions options;
  options.seed = random.word();
  options.net = random_network(random);
  options.crc = random.one_in(4) ? mpa::Crc::kOff : mpa::Crc::kOn;
  options.to_server = coin(random);
  options.to_client = coin(random);
  options.rtr = kRtrs[random.below(std::size(kRtrs))];
  const auto depth = [&random] { return static_cast<std::uint16_t>(random.between(1, 5)); };
  options.client_depths.ird = depth();
  options.server_depths.ird = depth();
  options.client_depths.ord = std::min(depth(), options.server_depths.ird);
  options.server_depths.ord = std::min(depth(), options.client_depths.ird);
  options.client.capacity = random_capacity(random);
  options.server.capacity = random_capacity(random);
  options.client.offloads = random_offloads(random);
  options.server.offloads = random_offloads(random);
  return options;
}

TrafficOptions random_traffic(Random& random, const PairOptions& pair) {
  const std::size_t segment =
      std::min({pair.net.emss, pair.net.segment.max, pair.net.send_buffer, pair.net.receive_buffer,
                pair.net.lend.max, pair.net.accept.max, std::size_t{1500}});
  TrafficOptions options;
  options.requests = random.between(1, 20);
  options.longest = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(segment * random.between(4, 40), 100, 30'000));
  return options;
}

}  // namespace iwarp::verbs::simtest
