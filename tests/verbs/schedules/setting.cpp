#include "verbs/schedules/setting.hpp"

#include <algorithm>
#include <ostream>

namespace iwarp::verbs::simtest::schedules {
namespace {

using tcp_offload::SimLending;
using tcp_offload::SimMemory;
using tcp_offload::SimOptions;
using tcp_offload::SimRange;

constexpr const char* kNames[kTroubles] = {
    "none",           "hiccup",     "disconnect",  "bad request", "starvation",
    "deregistration", "corruption", "reset",       "stall",       "FIN in an FPDU",
    "deafness",       "abort",      "destruction", "ending"};

SimRange draw_range(Random& random, std::uint32_t most) {
  const std::uint32_t low = random.between(1, most);
  return {low, random.between(low, most)};
}

// A network that moves a few octets at a time takes long to simulate, so that few do.
SimOptions draw_network(Random& random) {
  constexpr std::size_t kEmss[] = {140, 536, 1460, 1460, 8960, 65483};
  constexpr std::uint32_t kBuffers[] = {200, 1000, 4096, 65536, 65536};
  SimOptions net;
  const bool tiny = random.one_in(24);
  net.emss = tiny ? random.between(8, 40) : kEmss[random.below(std::size(kEmss))];
  if (random.one_in(3)) net.send_quantum = random.between(1, 45) * net.emss;
  net.send_buffer = tiny ? random.between(8, 100) : kBuffers[random.below(std::size(kBuffers))];
  net.receive_buffer = tiny ? random.between(8, 100) : kBuffers[random.below(std::size(kBuffers))];
  const std::uint32_t most = tiny ? 40 : 2000;
  if (random.one_in(3)) net.segment = draw_range(random, most);
  if (random.one_in(4)) net.lend = draw_range(random, most);
  if (random.one_in(4)) net.accept = draw_range(random, most);
  if (random.one_in(3)) net.jitter = std::chrono::microseconds(50);
  if (random.one_in(4)) net.latency = std::chrono::microseconds(random.below(2000));
  if (random.one_in(4)) net.memory = SimMemory::kReferenced;
  if (random.one_in(4)) net.release_lag = std::chrono::microseconds(random.below(300));
  if (random.one_in(2)) net.lending = SimLending::kScratch;
  return net;
}

EndOptions draw_end(Random& random) {
  EndOptions end;
  end.capacity.max_send_wr = random.between(1, 12);
  end.capacity.max_recv_wr = random.between(1, 12);
  end.capacity.max_send_sge = random.between(1, 5);
  end.capacity.max_recv_sge = random.between(1, 5);
  end.capacity.max_inline = random.one_in(2) ? 0 : 100;
  end.cq_depth = 128;
  if (random.one_in(3)) end.signaling = Signaling::kAll;
  if (random.one_in(4)) {
    end.srq = provider::SrqOptions{end.capacity.max_recv_wr, end.capacity.max_recv_sge, 0};
  }
  end.secret = random.word();
  return end;
}

void draw_depths(Random& random, PairOptions& pair) {
  const auto depth = [&random] { return static_cast<std::uint16_t>(random.between(0, 4)); };
  pair.client_depths.ird = depth();
  pair.server_depths.ird = depth();
  // RFC 6581 §9.2: an end that takes a Read as the first message has room for one.
  if (pair.rtr == mpa::Rtr::kRead && pair.server_depths.ird == 0) pair.server_depths.ird = 1;
  pair.client_depths.ord = std::min(depth(), pair.server_depths.ird);
  pair.server_depths.ord = std::min(depth(), pair.client_depths.ird);
}

void draw_ending(Random& random, Setting& setting) {
  constexpr std::chrono::seconds kLingers[] = {5s, 15s, 60s};
  const auto linger = kLingers[random.below(std::size(kLingers))];
  setting.pair.client.timeouts.linger = setting.pair.server.timeouts.linger = linger;
  setting.leaving = static_cast<Leaving>(random.below(kLeavings));
  setting.naps = random.between(1, 12);
  setting.nap = std::chrono::milliseconds(random.below(random.one_in(2) ? 1000 : 90'000));
}

PairOptions draw_pair(Random& random) {
  constexpr mpa::Rtr kRtrs[] = {mpa::Rtr::kNone, mpa::Rtr::kSend, mpa::Rtr::kWrite,
                                mpa::Rtr::kRead};
  const auto coin = [&random] { return random.one_in(2) ? mpa::Markers::kOn : mpa::Markers::kOff; };
  PairOptions pair;
  pair.seed = random.word();
  pair.net = draw_network(random);
  pair.crc = random.one_in(4) ? mpa::Crc::kOff : mpa::Crc::kOn;
  pair.to_server = coin();
  pair.to_client = coin();
  pair.rtr = kRtrs[random.below(std::size(kRtrs))];
  draw_depths(random, pair);
  pair.client = draw_end(random);
  pair.server = draw_end(random);
  return pair;
}

// Messages of a few segments: what can go wrong goes wrong where they meet.
std::uint32_t draw_longest(Random& random, const SimOptions& net) {
  const std::size_t segment =
      std::min({net.emss, net.segment.max, net.send_buffer, net.receive_buffer, net.lend.max,
                net.accept.max, std::size_t{400}});
  const std::size_t longest = random.one_in(40) ? segment * 60 : segment * random.between(1, 6);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(longest, 16, 40'000));
}

}  // namespace

const char* name_of(Trouble trouble) { return kNames[static_cast<std::size_t>(trouble)]; }

Setting draw_setting(Random& random) {
  Setting setting;
  setting.pair = draw_pair(random);
  if (!random.one_in(3)) setting.trouble = static_cast<Trouble>(random.below(kTroubles));
  setting.at = kSides[random.below(2)];
  setting.length = random.between(1, random.one_in(8) ? 24 : 8);
  setting.longest = draw_longest(random, setting.pair.net);
  setting.offset = random.below(random.one_in(2) ? 200 : 2000);
  setting.pace = random.one_in(2) ? 1 : random.between(2, 12);
  setting.intrudes = random.one_in(3);
  setting.steps = random.below(random.one_in(2) ? 20 : 200);
  draw_ending(random, setting);
  if (setting.trouble == Trouble::kDeregistration) {
    // It waits for a device that has not copied, and nobody runs the network meanwhile.
    setting.pair.net.memory = SimMemory::kCopied;
    setting.pair.net.release_lag = {};
  }
  for (EndOptions* end : {&setting.pair.client, &setting.pair.server}) {
    if (random.one_in(4)) end->max_fpdu = random.between(kLeastMaxFpdu, 8 * kLeastMaxFpdu);
    if (random.one_in(8)) end->max_fpdu = random.between(kLeastMaxFpdu, kGreatestMaxFpdu);
  }
  const SimOptions& net = setting.pair.net;
  setting.copies = net.memory == SimMemory::kCopied && net.release_lag.count() == 0;
  return setting;
}

std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  const PairOptions& pair = setting.pair;
  const SimOptions& net = pair.net;
  out << "trouble: " << name_of(setting.trouble) << " at the " << name_of(setting.at) << ", octet "
      << setting.offset << ", step " << setting.steps << ", pace " << setting.pace
      << (setting.intrudes ? ", intrudes" : "") << "\nending: way "
      << static_cast<int>(setting.leaving) << ", " << setting.naps << " naps of "
      << setting.nap.count() << " ms, linger " << pair.client.timeouts.linger.count()
      << " ms\nnetwork: EMSS " << net.emss << ", quantum " << net.send_quantum << ", buffers "
      << net.send_buffer << " and " << net.receive_buffer << ", segments up to " << net.segment.max
      << ", lends up to " << net.lend.max << ", accepts up to " << net.accept.max
      << (net.memory == SimMemory::kReferenced ? ", references" : ", copies") << " memory, lag "
      << net.release_lag.count() << " ns\nconnection: CRC " << (pair.crc == mpa::Crc::kOn)
      << ", markers to server " << (pair.to_server == mpa::Markers::kOn) << ", to client "
      << (pair.to_client == mpa::Markers::kOn) << ", RTR " << static_cast<int>(pair.rtr)
      << ", client IRD " << pair.client_depths.ird << " ORD " << pair.client_depths.ord
      << ", server IRD " << pair.server_depths.ird << " ORD " << pair.server_depths.ord << '\n';
  for (const EndOptions* end : {&pair.client, &pair.server}) {
    out << "end: send queue " << end->capacity.max_send_wr << " of " << end->capacity.max_send_sge
        << ", receive queue " << end->capacity.max_recv_wr << " of " << end->capacity.max_recv_sge
        << ", inline " << end->capacity.max_inline << ", FPDUs up to " << end->max_fpdu
        << (end->srq ? ", shared receives" : "")
        << (end->signaling == Signaling::kAll ? ", all signalled\n" : "\n");
  }
  return out;
}

}  // namespace iwarp::verbs::simtest::schedules
