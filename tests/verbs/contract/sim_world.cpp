// The contract's tests over the software provider on a simulated network: one thread, virtual time,
// start-up frames included.
#include <utility>

#include "soft/soft_provider.hpp"
#include "support/hostile_network.hpp"
#include "verbs/contract/world.hpp"
#include "verbs/sim_harness.hpp"

namespace iwarp::verbs::contract {
namespace {

using namespace std::chrono_literals;
using iwarp::test::hostile_network;

// A host of a simulated network, as the software provider sees it.
class SimPlatform final : public soft::Platform {
 public:
  SimPlatform(tcp_offload::SimNetwork& net, unsigned host, tcp_offload::Offloads offloads)
      : host_(std::make_shared<simtest::SimHost>(net, host)),
        knows_mpa_(net.device(host), offloads),
        device_(offloads.empty() ? net.device(host) : knows_mpa_) {
    host_->async_events.on_event({});  // kept for the program
  }
  SimPlatform(const SimPlatform&) = delete;
  SimPlatform& operator=(const SimPlatform&) = delete;

  [[nodiscard]] const soft::Services& services() const override { return host_->services; }
  [[nodiscard]] tcp_offload::Device& device() override { return device_; }
  [[nodiscard]] tcp_offload::Device& device(const std::string& /*capture*/) override {
    return device_;
  }
  void finish() override {}

  void turn() { host_->turn(); }
  /// What lets things happen while a call waits, as for memory that the network still reads from.
  void while_waiting(const std::function<void()>& progress) {
    if (!progress) {
      host_->inside_wait = nullptr;
      return;
    }
    host_->inside_wait = [this, progress] {
      progress();
      while_waiting(progress);
    };
  }
  void drop_streams() { host_->drop_streams(); }

 private:
  const std::shared_ptr<simtest::SimHost> host_;
  tcp_offload::MpaDevice knows_mpa_;
  tcp_offload::Device& device_;
};

// A network, and what the hosts' devices do of MPA.
struct Setting {
  tcp_offload::SimOptions net{};
  tcp_offload::Offloads client{}, server{};
};

class SimWorld final : public World {
 public:
  explicit SimWorld(const Setting& setting)
      : network_(11, setting.net),
        client_platform_(std::make_shared<SimPlatform>(network_.net, 1U, setting.client)),
        server_platform_(std::make_shared<SimPlatform>(network_.net, 2U, setting.server)) {
    const auto progress = [this] {
      network_.net.step();
      turn();
    };
    client_platform_->while_waiting(progress);
    server_platform_->while_waiting(progress);
  }
  // What programs have left behind comes to its end. Streams that are still seen off refer to the
  // network.
  ~SimWorld() override {
    settle();
    client_platform_->while_waiting({});
    server_platform_->while_waiting({});
    client_platform_->drop_streams();
    server_platform_->drop_streams();
  }
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  Device& client() override { return client_; }
  Device& server() override { return server_; }
  [[nodiscard]] Endpoint listen_at() const override {
    return {Address(std::array<std::uint8_t, 4>{10, 0, 0, 2}), 0};
  }
  bool until(const std::function<bool()>& condition) override {
    return network_.run_until([this] { turn(); }, condition, 100s);
  }
  void settle() override {
    network_.run_until([this] { turn(); }, [] { return false; }, 1s);
  }
  [[nodiscard]] Capability capabilities() const override { return software_capabilities(); }

 private:
  static Device device_on(const std::shared_ptr<SimPlatform>& platform) {
    return Device(soft::make_provider(platform, {.name = "simulated", .stream = "sim"}));
  }
  void turn() {
    client_platform_->turn();
    server_platform_->turn();
  }

  simtest::TickingNetwork network_;
  const std::shared_ptr<SimPlatform> client_platform_, server_platform_;
  Device client_ = device_on(client_platform_);
  Device server_ = device_on(server_platform_);
};

WorldMaker maker_of(std::string name, const Setting& setting) {
  return {.name = std::move(name),
          .make = [setting] { return std::make_unique<SimWorld>(setting); }};
}

}  // namespace

std::vector<WorldMaker> worlds() {
  constexpr auto kMpa = tcp_offload::Offload::kCrc | tcp_offload::Offload::kMarkers;
  return {maker_of("SimQuiet", {}), maker_of("SimHostile", {hostile_network()}),
          maker_of("SimMpa", {.net = hostile_network(), .client = kMpa, .server = kMpa}),
          maker_of("SimMpaAtOneEnd", {.net = hostile_network(), .client = kMpa})};
}

}  // namespace iwarp::verbs::contract
