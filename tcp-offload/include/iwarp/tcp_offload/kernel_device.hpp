#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "iwarp/tcp_offload/device.hpp"

namespace iwarp::tcp_offload {

/// How the kernel device sets its sockets up.
struct KernelOptions {
  /// SO_SNDBUF in octets, set before connecting; 0 leaves the system's tuning on.
  int send_buffer = 0;
  int receive_buffer = 0;  ///< SO_RCVBUF, likewise.
  /// How long accepting pauses after an error that lasts, such as EMFILE.
  std::chrono::milliseconds accept_pause{100};
  /// The network interface that its own listeners and connections are confined to
  /// (SO_BINDTODEVICE); empty: they take any. Sockets that were adopted are as they came.
  std::string interface = {};
};

/// Whether sockets of this process can be confined to a network interface: no error if so, else
/// ENODEV if none has that name, EPERM where the system demands CAP_NET_RAW for it (Linux before
/// 5.7), or what refused a socket to try it with. From any thread.
std::error_code try_interface(const std::string& interface);

/// The operating system's TCP over non-blocking sockets. The executor is an io_context run by one
/// thread; streams in RDMA mode have left it. Every socket has TCP_NODELAY and FD_CLOEXEC set, and
/// one that this device made takes half a MiB at most that TCP cannot send yet: what a peer that
/// does not read can have it hold.
class KernelDevice final : public Device {
 public:
  /// `context` outlives the device and everything it makes in streaming mode.
  explicit KernelDevice(boost::asio::io_context& context, const KernelOptions& options = {});
  ~KernelDevice() override;

  [[nodiscard]] std::string_view name() const override { return "kernel"; }
  [[nodiscard]] std::string_view interface() const override { return options_.interface; }
  [[nodiscard]] Offloads offloads() const override { return {}; }
  Result<std::unique_ptr<Acceptor>, std::error_code> listen(const Endpoint& at,
                                                            const ListenTerms& terms) override;
  [[nodiscard]] std::unique_ptr<ConnectAttempt> async_connect_from(
      const LocalEnd& from, const Endpoint& to, ConnectionHandler handler) override;
  Result<std::unique_ptr<Connection>, std::error_code> adopt(int socket) override;
  std::unique_ptr<Timer> make_timer() override;
  [[nodiscard]] Clock::time_point now() const override { return Clock::now(); }
  void post(Handler<> task) override;

 private:
  boost::asio::io_context& context_;
  const KernelOptions options_;
  std::atomic<std::size_t> room_ = 0;  // connections for which the reactor has been given room
};

}  // namespace iwarp::tcp_offload
