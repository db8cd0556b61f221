#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "iwarp/sim/mpa_device.hpp"
#include "iwarp/sim/network.hpp"
#include "mpa/naive_framer.hpp"
#include "support/hostile_network.hpp"
#include "support/random.hpp"
#include "tcp_offload/harness.hpp"

/// What tests of a simulated device that does a part of MPA share.
namespace iwarp::tcp_offload::test {

using iwarp::test::Bytes;
using iwarp::test::Random;
using mpa::test::NaiveFramer;
using std::chrono_literals::operator""us;

inline constexpr Offloads kBoth = Offload::kCrc | Offload::kMarkers;
inline constexpr Offloads kChoices[] = {Offload::kCrc, Offload::kMarkers, kBoth};
inline constexpr MpaTerms kAll{.crc = true, .markers_sent = true, .markers_received = true};

/// Lengths that have Markers fall on every part of an FPDU, and between two.
inline std::vector<Bytes> some_ulpdus(Random& random, std::size_t count) {
  std::vector<Bytes> ulpdus;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t longest = random.one_in(8) ? 5000 : random.one_in(2) ? 8 : 600;
    ulpdus.emplace_back(random.between(0, longest));
    random.fill(ulpdus.back());
  }
  return ulpdus;
}

inline NaiveFramer framer_of(bool crc, bool markers) {
  return {crc ? mpa::Crc::kOn : mpa::Crc::kOff, markers ? mpa::Markers::kOn : mpa::Markers::kOff};
}

inline Bytes framed(const std::vector<Bytes>& ulpdus, bool crc, bool markers) {
  NaiveFramer framer = framer_of(crc, markers);
  for (const Bytes& ulpdu : ulpdus) framer.frame(ulpdu);
  return framer.stream();
}

/// The same with buffers that do not hold the longest FPDU.
inline SimOptions in_pieces(bool copied = true) {
  SimOptions options = iwarp::test::hostile_network();
  if (copied) options.memory = SimMemory::kCopied;
  if (copied) options.release_lag = 0us;
  options.send_buffer = 3000;
  options.receive_buffer = 2500;
  options.jitter = 20us;
  options.accept = {1, 600};
  return options;
}

/// A host whose device knows MPA, and the wire at the other end.
class World {
 public:
  explicit World(const MpaTerms& negotiated, Offloads offloads = kBoth,
                 const SimOptions& options = in_pieces(), std::uint64_t seed = 3)
      : random_(seed), network(seed, options), two(network.make_stream_pair()) {
    host = offload_mpa(std::move(two.connector), negotiated, offloads);
    wire = std::move(two.acceptor);
  }

  // Sends `from` at one end in random pieces while the other receives; returns what came there, and
  // stops when nothing comes any more.
  Bytes carry(Stream& from, Stream& to, ConstBytes octets) {
    Bytes came;
    std::uint64_t sent = 0;
    do {
      const auto rest = octets.subspan(static_cast<std::size_t>(sent));
      sent += offer(from, rest.first(std::min<std::size_t>(rest.size(), random_.below(1500))));
      status = receive(to, came);
    } while (network.step() || sent < octets.size() || status == IoStatus::kOk);
    return came;
  }

  static IoStatus receive(Stream& stream, Bytes& into) {
    std::byte scratch[1000];
    const Received got = stream.receive(scratch);
    into.insert(into.end(), got.data.begin(), got.data.end());
    stream.consume(got.data.size());
    return got.status;
  }

 private:
  // In two pieces, of which the memory is gone as soon as the stream does not need it.
  std::size_t offer(Stream& stream, ConstBytes octets) {
    Bytes copy(octets.begin(), octets.end());
    const std::size_t cut = random_.below(static_cast<std::uint32_t>(copy.size() + 1));
    const iovec pieces[] = {{copy.data(), cut}, {copy.data() + cut, copy.size() - cut}};
    const Sent sent = stream.send(pieces);
    EXPECT_EQ(sent.status == IoStatus::kOk, sent.accepted != 0 || octets.empty());
    accepted_ += sent.accepted;
    offered_.emplace_back(accepted_, std::move(copy));
    EXPECT_LE(stream.released(), accepted_);
    while (!offered_.empty() && offered_.front().first <= stream.released()) offered_.pop_front();
    return sent.accepted;
  }

  Random random_;
  std::uint64_t accepted_ = 0;
  std::deque<std::pair<std::uint64_t, Bytes>> offered_;

 public:
  SimNetwork network;
  SimStreamPair two;
  std::unique_ptr<Stream> host, wire;
  IoStatus status = IoStatus::kWouldBlock;
};

inline std::string name_of(const MpaTerms& terms, Offloads offloads) {
  return std::string("crc ") + (terms.crc ? "on" : "off") + ", markers " +
         (terms.markers_sent ? "on" : "off") +
         (offloads.contains(Offload::kCrc) ? ", takes CRC" : "") +
         (offloads.contains(Offload::kMarkers) ? ", takes markers" : "");
}

/// All that can be negotiated, the same both ways, and every device.
template <typename Test>
void in_every_mode(Test test) {
  for (const bool crc : {false, true}) {
    for (const bool markers : {false, true}) {
      for (const Offloads offloads : kChoices) {
        const MpaTerms terms{crc, markers, markers};
        SCOPED_TRACE(name_of(terms, offloads));
        test(terms, left_to_host(terms, offloads), offloads);
      }
    }
  }
}

}  // namespace iwarp::tcp_offload::test
