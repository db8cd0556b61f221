#include "server.hpp"

#include <sys/socket.h>

#include <iostream>

#include "sockets.hpp"

namespace iwarp::bench::channel {
namespace {

// What the client says while it is measured: one octet when all are connected, then its end.
class Measurement final : public Readable {
 public:
  Measurement(const Control& control, const Service& service)
      : control_(control), service_(service) {}

  void on_readable() override {
    char word = 0;
    over_ = ::recv(control_.descriptor(), &word, sizeof word, 0) <= 0;
    if (over_) return;
    exchanges_before_ = service_.exchanges();
    cpu_before_ = cpu_time();
  }
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] Seen seen() const {
    return {service_.exchanges() - exchanges_before_,
            static_cast<std::uint64_t>((cpu_time() - cpu_before_).count())};
  }

 private:
  const Control& control_;
  const Service& service_;
  bool over_ = false;
  std::uint64_t exchanges_before_ = 0;
  std::chrono::nanoseconds cpu_before_{0};
};

void serve(Control control, const std::string& address) {
  const Task task = control.hear<Task>();
  Events events;
  const auto make = task.transport == Transport::kTcp ? make_tcp_service : make_verbs_service;
  const auto service = make(events, address, task);
  control.say(Where{service->port()});
  Measurement measurement(control, *service);
  events.watch(control.descriptor(), measurement);
  while (!measurement.over()) events.turn();
  control.say(measurement.seen());
}

}  // namespace

void run_server(const std::string& address, std::uint16_t port) {
  sockaddr_in at = endpoint(address, port);
  const auto listener = listen_at(at);
  std::cout << ntohs(at.sin_port) << std::endl;
  for (;;) {
    process::Descriptor accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!accepted) continue;
    try {
      serve(Control(std::move(accepted)), address);
    } catch (const std::exception& error) {
      std::cerr << "channel_bench: " << error.what() << '\n';
    }
  }
}

}  // namespace iwarp::bench::channel
