#pragma once

#include <memory>
#include <string_view>

#include "iwarp/tcp_offload/device.hpp"

namespace iwarp::tcp_offload {

/// Another device whose streams do for the host what `offloads` says of MPA, as an adapter that
/// knows MPA but not DDP would: towards the host FPDUs without Markers and with an empty CRC field,
/// on the wire as negotiated, and checked. In streaming mode, and where nothing of that was
/// negotiated, connections are those of the device below. Contract, threads and lifetimes are
/// those of the device below, which outlives this one.
///
/// A stream of it copies what it accepts, releases that at once, and holds nothing back: it
/// accepts of the host what the stream below has taken as octets of the wire.
class MpaDevice final : public Device {
 public:
  /// On top of `inner`, which has no offloads.
  MpaDevice(Device& inner, Offloads offloads) : inner_(inner), offloads_(offloads) {}

  [[nodiscard]] std::string_view name() const override { return "mpa"; }
  [[nodiscard]] std::string_view interface() const override { return inner_.interface(); }
  [[nodiscard]] Offloads offloads() const override { return offloads_; }
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
  const Offloads offloads_;
};

/// What such a device makes of a stream that has just been handed over: `wire` itself if there is
/// nothing to do.
std::unique_ptr<Stream> offload_mpa(std::unique_ptr<Stream> wire, const MpaTerms& negotiated,
                                    Offloads offloads);

}  // namespace iwarp::tcp_offload
