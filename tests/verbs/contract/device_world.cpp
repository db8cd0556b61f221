#include "verbs/contract/device_world.hpp"

#include <chrono>
#include <optional>
#include <thread>

#include "support/sanitizers.hpp"
#include "verbs/loopback_pair.hpp"

namespace iwarp::verbs::contract {
namespace {

using namespace std::chrono_literals;

class DeviceWorld final : public World {
 public:
  explicit DeviceWorld(const DeviceChoice& choice)
      : device_(test::must(Device::open(choice.name))), choice_(choice) {
    if (!choice.server_name.empty()) server_ = test::must(Device::open(choice.server_name));
  }

  Device& client() override { return device_; }
  Device& server() override { return server_ ? *server_ : device_; }
  [[nodiscard]] Endpoint listen_at() const override { return {choice_.address, 0}; }
  bool until(const std::function<bool()>& condition) override { return wait(condition, kPatience); }
  void settle() override {
    wait([] { return false; }, kSettling);
  }
  void on_connected() override { std::this_thread::sleep_for(choice_.pause); }
  [[nodiscard]] Capability capabilities() const override {
    Capability both = capabilities_of(device_.attributes());
    if (server_) both = common(both, capabilities_of(server_->attributes()));
    return without(both | choice_.more, choice_.fewer);
  }

 private:
  static constexpr std::chrono::seconds kPatience{iwarp::test::kSanitizer ? 60 : 10};
  static constexpr std::chrono::milliseconds kSettling{20};
  static constexpr std::chrono::microseconds kPause{50};

  static bool wait(const std::function<bool()>& condition, std::chrono::milliseconds longest) {
    const auto end = std::chrono::steady_clock::now() + longest;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(kPause);
    }
    return true;
  }

  Device device_;
  std::optional<Device> server_;
  const DeviceChoice choice_;
};

}  // namespace

std::unique_ptr<World> make_device_world(const DeviceChoice& choice) {
  return std::make_unique<DeviceWorld>(choice);
}

}  // namespace iwarp::verbs::contract
