#include "soft/platform.hpp"
#include "soft/soft_provider.hpp"
#include "verbs/forwarding_stream.hpp"
#include "verbs/raw_peer.hpp"
#include "verbs/sim_random.hpp"

// Stream devices that have the CRC and the Markers to themselves: the peer notices nothing of it,
// and the software leaves alone what they do.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::Random;
using tcp_offload::Offload;
using tcp_offload::Offloads;

constexpr Offloads kMpa = Offload::kCrc | Offload::kMarkers;
constexpr Offloads kDevices[] = {{}, Offload::kCrc, Offload::kMarkers, kMpa};

mpa::Crc crc_if(bool on) { return on ? mpa::Crc::kOn : mpa::Crc::kOff; }
mpa::Markers markers_if(bool on) { return on ? mpa::Markers::kOn : mpa::Markers::kOff; }

std::string name_of(Offloads device) {
  return device == kMpa            ? "CRC and markers"
         : device.empty()          ? "nothing"
         : device == Offload::kCrc ? "the CRC"
                                   : "the markers";
}

// Each choice of what is negotiated: CRC, Markers to the server, Markers to the client.
class SimOffload : public testing::TestWithParam<std::tuple<bool, bool, bool>> {
 protected:
  // In pieces that differ with each seed.
  static PairOptions options(std::uint64_t seed) {
    Random random(seed);
    PairOptions made = random_pair(random);
    made.net.emss = 1460;
    made.crc = crc_if(std::get<0>(GetParam()));
    made.to_server = markers_if(std::get<1>(GetParam()));
    made.to_client = markers_if(std::get<2>(GetParam()));
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(, SimOffload,
                         testing::Combine(testing::Bool(), testing::Bool(), testing::Bool()),
                         [](const auto& of) {
                           return std::string(std::get<0>(of.param) ? "Crc" : "NoCrc") +
                                  (std::get<1>(of.param) ? "MarkersToServer" : "") +
                                  (std::get<2>(of.param) ? "MarkersToClient" : "");
                         });

void run_traffic(const PairOptions& options, Random& random) {
  SimPair pair(options);
  BothWays traffic(pair, random, random_traffic(random, options));
  ASSERT_TRUE(pair.run_until([&] {
    traffic.post_some(random);
    return traffic.done();
  })) << "stuck";
  pair.client.qp->disconnect();
  ASSERT_TRUE(pair.run_until_closed()) << "does not end";
  pair.turn();
  traffic.there.check_success();
  traffic.back.check_success();
  expect_graceful(pair.client);
  expect_graceful(pair.server);
}

// Sends, Writes and Reads both ways.
TEST_P(SimOffload, CarriesEveryMessageBetweenAnyTwoDevices) {
  std::uint64_t seed = 100;
  for (const Offloads client : kDevices) {
    for (const Offloads server : kDevices) {
      SCOPED_TRACE("seed " + std::to_string(++seed) + ", devices do " + name_of(client) + " and " +
                   name_of(server));
      Random random(seed);
      PairOptions made = options(seed);
      made.client.offloads = client;
      made.server.offloads = server;
      run_traffic(made, random);
    }
  }
}

/// Keeps what the software offers its device, as far as that takes it.
class OfferedStream final : public ForwardingStream {
 public:
  OfferedStream(std::unique_ptr<tcp_offload::Stream> inner, std::vector<std::byte>& into)
      : ForwardingStream(std::move(inner)), into_(into) {}

  tcp_offload::Sent send(std::span<const iovec> pieces) override {
    const auto sent = ForwardingStream::send(pieces);
    std::size_t left = sent.accepted;
    for (const iovec& piece : pieces) {
      const std::size_t size = std::min(left, piece.iov_len);
      const auto* const from = static_cast<const std::byte*>(piece.iov_base);
      into_.insert(into_.end(), from, from + size);
      left -= size;
    }
    return sent;
  }

 private:
  std::vector<std::byte>& into_;
};

/// The ULPDUs and the CRC fields of FPDUs without Markers, which end with the octets.
struct PlainFpdus {
  explicit PlainFpdus(ConstBytes octets) {
    while (!octets.empty()) {
      const std::size_t length = load_be<std::uint16_t>(octets.data());
      const std::size_t size = mpa::unmarked_size(length);
      whole = size <= octets.size();
      if (!whole) return;
      ulpdus.emplace_back(octets.begin() + 2, octets.begin() + 2 + static_cast<int>(length));
      crcs.push_back(load_le<std::uint32_t>(octets.data() + size - mpa::kCrcSize));
      octets = octets.subspan(size);
    }
  }
  std::vector<Ulpdu> ulpdus;
  std::vector<std::uint32_t> crcs;
  bool whole = true;
};

// A peer that checks all of it gets what it should.
TEST(Offload, SoftwareLeavesCrcAndMarkersToTheDevice) {
  PairOptions options = RawPair::without_rtr();
  options.to_server = mpa::Markers::kOn;
  options.client.offloads = kMpa;
  options.net.accept = {1, 900};
  std::vector<std::byte> offered;
  RawPair pair(options, soft::Role::kInitiator, [&](auto device) {
    return std::make_unique<OfferedStream>(std::move(device), offered);
  });
  Region& source = pair.end.region(20'000, Access::kNone);
  Random(5).fill(source.memory.bytes());
  const Sge from = source.sge();
  post(pair.end, write_of(1, {&from, 1}, Stag{1}, 0));
  post(pair.end, send_of(2, {&from, 1}));
  ASSERT_TRUE(pair.run_until([&] { return pair.end.sent.size() == 2; }, 10s));
  pair.run_for(100ms);
  EXPECT_FALSE(pair.peer.bad);
  const PlainFpdus fpdus(offered);
  EXPECT_TRUE(fpdus.whole);
  EXPECT_EQ(fpdus.ulpdus, pair.peer.came);
  EXPECT_EQ(fpdus.crcs, std::vector<std::uint32_t>(fpdus.ulpdus.size(), 0));
}

// RFC 5044 §4.5: with the room for the Markers taken off, by the device or by the software.
TEST(Offload, UlpdusAreAsLargeAsTheyAreWithoutADevice) {
  for (const std::size_t emss : {536U, 1448U, 8948U}) {
    std::vector<std::vector<Ulpdu>> came;
    for (const Offloads device : kDevices) {
      PairOptions options = RawPair::without_rtr();
      options.to_server = mpa::Markers::kOn;
      options.net.emss = emss;
      options.client.offloads = device;
      RawPair pair(options);
      Region& source = pair.end.region(50'000, Access::kNone);
      const Sge from = source.sge();
      post(pair.end, send_of(1, {&from, 1}));
      ASSERT_TRUE(pair.run_until([&] { return pair.end.sent.size() == 1; }, 10s));
      pair.run_for(100ms);
      came.push_back(pair.peer.came);
    }
    EXPECT_EQ(came, std::vector(came.size(), came.front()));
  }
}

/// Two Writes of the client, and what comes of one bit that is inverted on the wire. The first one,
/// of which the FPDU has 36 octets there, is good: before that a responder may not send.
struct Corrupted {
  static constexpr std::size_t kFirst = 10, kSecond = 900;

  Corrupted(const PairOptions& options, std::uint64_t at) : pair(options) {
    Region& source = pair.client.region(kSecond, Access::kNone);
    Region& target = pair.server.region(kFirst + kSecond, kRemote | Access::kLocalWrite);
    std::ranges::fill(source.memory.bytes(), std::byte{0xA5});
    pair.to_server().corrupt_at(at, std::byte{0x04});
    const Sge some = source.sge(0, kFirst), all = source.sge();
    post(pair.client, write_of(1, {&some, 1}, target.key(), target.to(0)));
    post(pair.client, write_of(2, {&all, 1}, target.key(), target.to(kFirst)));
    EXPECT_TRUE(pair.run_until_closed());
    pair.turn();
    placed = std::ranges::count(target.memory.bytes(), std::byte{0xA5});
  }
  [[nodiscard]] static PairOptions options(mpa::Crc crc, Offloads server) {
    PairOptions made;
    made.rtr = mpa::Rtr::kNone;
    made.crc = crc;
    made.to_server = mpa::Markers::kOn;
    made.server.offloads = server;
    made.net.segment = {1, 300};
    return made;
  }

  SimPair pair;
  std::ptrdiff_t placed = 0;
};

// What the software would have said: the finder sends the Terminate, and the peer reads it.
void expect_terminate(const Corrupted& run, mpa::Error error) {
  for (const SimEnd* end : {&run.pair.server, &run.pair.client}) {
    const auto cause = end->qp->diagnosis().cause;
    ASSERT_TRUE(cause) << end->qp->diagnosis().to_string();
    EXPECT_EQ((rdmap::Cause{static_cast<rdmap::Layer>(cause->layer), cause->type, cause->code}),
              rdmap::cause_of_llp(mpa::terminate_code(error)));
  }
  EXPECT_EQ(run.pair.server.qp->diagnosis().by, EndedBy::kStack);
  EXPECT_EQ(run.pair.client.qp->diagnosis().by, EndedBy::kPeerTerminate);
  EXPECT_EQ(run.placed, static_cast<std::ptrdiff_t>(Corrupted::kFirst));
}

// There is a Marker at 512, and FPDUPTR two octets behind.
TEST(Offload, AWrongCrcOnTheWireIsTheSameTerminateWhereverItIsChecked) {
  for (const Offloads device : kDevices) {
    for (const std::uint64_t at : {60U, 515U, 800U}) {
      SCOPED_TRACE(name_of(device) + " at " + std::to_string(at));
      const Corrupted run(Corrupted::options(mpa::Crc::kOn, device), at);
      expect_terminate(run, mpa::Error::kCrcMismatch);
    }
  }
}

TEST(Offload, AWrongMarkerOnTheWireIsTheSameTerminateWhereverItIsChecked) {
  for (const Offloads device : kDevices) {
    SCOPED_TRACE(name_of(device));
    const Corrupted run(Corrupted::options(mpa::Crc::kOff, device), 515);
    expect_terminate(run, mpa::Error::kMarkerMismatch);
  }
}

/// A host of which nothing but the device is asked.
class DeviceOnly final : public soft::Platform {
 public:
  DeviceOnly(tcp_offload::SimNetwork& net, Offloads offloads)
      : host_(net, 1), device_(net.device(1), offloads) {}
  [[nodiscard]] const soft::Services& services() const override { return host_.services; }
  [[nodiscard]] tcp_offload::Device& device() override { return device_; }
  [[nodiscard]] tcp_offload::Device& device(const std::string& /*capture*/) override {
    return device_;
  }
  void finish() override {}

 private:
  SimHost host_;
  tcp_offload::MpaDevice device_;
};

TEST(Offload, IsAmongTheAttributesOfTheProvider) {
  tcp_offload::SimNetwork net(1);
  const auto offloads = [&net](Offloads of) {
    const auto provider = soft::make_provider(std::make_shared<DeviceOnly>(net, of), {});
    return provider->attributes().offloads;
  };
  EXPECT_EQ(offloads({}), std::vector<std::string>());
  EXPECT_EQ(offloads(Offload::kCrc), std::vector<std::string>{"crc"});
  EXPECT_EQ(offloads(kMpa), (std::vector<std::string>{"crc", "markers"}));
}

}  // namespace
}  // namespace iwarp::verbs::simtest
