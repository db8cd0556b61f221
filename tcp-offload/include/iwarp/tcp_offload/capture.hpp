#pragma once

#include <memory>
#include <string>

#include "iwarp/tcp_offload/device.hpp"

/// Recording live connections. What a connection moves, start-up frames and FPDUs, is written into
/// a pcapng file as a conversation over TCP: the octets and their order are the true ones, the
/// TCP/IP headers around them are made up, so acknowledgements, retransmissions and the real
/// segments are not to be seen. Octets sent are recorded when the stream accepts them, octets
/// received when it lends them; a reply that overtakes the recording of what it answers appears in
/// front of it.
///
/// What is recorded is what passes between this host and its device. Over a device that takes CRCs
/// or Markers off the host (Device::offloads) these are not in it, as with the checksums of an
/// ordinary network adapter: the start-up frames announce them, but the FPDUs have no Markers, and
/// zero for a CRC; a bad FPDU, which the device keeps to itself, is missing.
namespace iwarp::tcp_offload {

namespace capture {
class Writer;
}  // namespace capture

/// The directory that the environment variable IWARP_CAPTURE names; empty: nothing is recorded.
std::string capture_directory();

/// Another device with the connections recorded, each in a file of its own:
/// `iwarp-<pid>-<local port>-<remote address>-<remote port>-<n>.pcapng`, readable by its owner
/// alone, as it holds the payload. A thread that starts with the first connection writes the files:
/// each second, each MiB, and at the end of a connection. What was recorded of a connection is in
/// its file when the device's destructor has returned.
///
/// A capture never ends its connection: if the file cannot be made or written, or the disk holds
/// the connection up for a second, the capture ends with a line in the log. At most about 16 MiB
/// wait per connection to be written.
///
/// Threads, lifetimes and everything else are as with the device below, which outlives this one.
class CaptureDevice final : public Device {
 public:
  /// Records into `directory`, which should exist. With an empty one the connections are those of
  /// `inner`, but what was accepted or adopted remembers its octets until hand_over(), so that
  /// begin_capture() comes in time.
  CaptureDevice(Device& inner, std::string directory);
  ~CaptureDevice() override;

  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] std::string_view interface() const override { return inner_.interface(); }
  [[nodiscard]] Offloads offloads() const override { return inner_.offloads(); }
  Result<std::unique_ptr<Acceptor>, std::error_code> listen(const Endpoint& at,
                                                            const ListenTerms& terms) override;
  [[nodiscard]] std::unique_ptr<ConnectAttempt> async_connect_from(
      const LocalEnd& from, const Endpoint& to, ConnectionHandler handler) override;
  Result<std::unique_ptr<Connection>, std::error_code> adopt(int socket) override;
  std::unique_ptr<Timer> make_timer() override { return inner_.make_timer(); }
  [[nodiscard]] Clock::time_point now() const override { return inner_.now(); }
  void post(Handler<> task) override { inner_.post(std::move(task)); }

 private:
  Device& inner_;
  const std::string directory_;
  const std::shared_ptr<capture::Writer> writer_;
};

/// Records `connection` into `directory`, from its first octet on. No effect if it is recorded
/// already, is not a CaptureDevice's, or `directory` is empty. To be called before hand_over().
void begin_capture(Connection& connection, const std::string& directory);

}  // namespace iwarp::tcp_offload
