// What a program does with an installed library: opens a device, prints its attributes, and gets
// its own errors back through the library's frames.
#include <iostream>
#include <iwarp/verbs/verbs.hpp>
#include <stdexcept>

namespace {

using namespace iwarp::verbs;

/// A device of the program's own, all of whose verbs fail by throwing.
class Broken final : public provider::Provider {
 public:
  const DeviceAttributes& attributes() const override { return attributes_; }
  Outcome<std::shared_ptr<provider::Pd>> alloc_pd() override { throw refusal(); }
  Outcome<std::shared_ptr<provider::Mr>> register_memory(const std::shared_ptr<provider::Pd>&,
                                                         iwarp::MutableBytes, Access) override {
    throw refusal();
  }
  Outcome<std::shared_ptr<provider::Cq>> create_cq(std::uint32_t) override { throw refusal(); }
  Outcome<std::shared_ptr<provider::Qp>> create_qp(const std::shared_ptr<provider::Pd>&,
                                                   provider::QpInit) override {
    throw refusal();
  }
  Outcome<std::shared_ptr<provider::Listener>> listen(const Endpoint&,
                                                      const provider::ListenOptions&,
                                                      provider::IncomingHandler) override {
    throw refusal();
  }
  Outcome<std::unique_ptr<provider::RequestWait>> await_request(StreamingSocket&,
                                                                const provider::AwaitOptions&,
                                                                provider::AwaitHandler) override {
    throw refusal();
  }
  void on_async_event(provider::AsyncHandler) override {}
  std::optional<AsyncEvent> wait_async_event(std::chrono::milliseconds) override { return {}; }

 private:
  static Error refusal() { return fail(std::errc::io_error, "broken").error; }

  DeviceAttributes attributes_{};
};

bool errors_come_through() {
  Device device(std::make_shared<Broken>());
  try {
    (void)device.alloc_pd();
  } catch (const Error& error) {
    return error.message == "broken" && error.code == std::errc::io_error;
  }
  return false;
}

/// The library's own objects are of the types that the program knows.
bool types_agree() {
  const auto made = provider::open_software();
  return made && dynamic_cast<const Broken*>(made->get()) == nullptr &&
         std::string(to_string(Status::kFlushed)).find("flushed") != std::string::npos;
}

}  // namespace

int main() {
  const auto device = Device::open();
  if (!device) throw std::runtime_error(device.error().message);
  if (Device::open("no such device").has_value()) throw std::runtime_error("opened what is not");
  if (!errors_come_through()) throw std::runtime_error("an Error was not caught as one");
  if (!types_agree()) throw std::runtime_error("the types differ");
  const DeviceAttributes& has = device->attributes();
  std::cout << "device " << has.name << ": " << has.provider << " over " << has.stream
            << ", max_qp " << has.max_qp << '\n';
}
