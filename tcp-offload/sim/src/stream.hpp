#pragma once

#include <vector>

#include "iwarp/tcp_offload/stream.hpp"
#include "link.hpp"

namespace iwarp::tcp_offload::sim {

/// A stream over one end of a simulated connection.
class SimStream final : public Stream {
 public:
  /// `first` is lent before anything that arrives.
  SimStream(LinkEnd end, ConstBytes first);

  Received receive(MutableBytes scratch) override;
  void consume(std::size_t n) override;
  Sent send(std::span<const iovec> pieces) override;
  [[nodiscard]] std::uint64_t released() const override;
  [[nodiscard]] Delivery delivery() const override {
    return {end_.out().unacknowledged(), end_.lost()};
  }
  [[nodiscard]] std::size_t emss() const override { return end_.out().emss(); }
  [[nodiscard]] std::size_t send_quantum() const override { return end_.out().send_quantum(); }
  [[nodiscard]] int descriptor() const override { return -1; }
  void shutdown_send() override;
  void abort() override;
  /// Nothing of a simulated network goes without a reset.
  void watch_peer(const PeerWatch& /*watch*/) override {}
  [[nodiscard]] Endpoint local() const override { return end_.local(); }
  [[nodiscard]] Endpoint remote() const override { return end_.remote(); }

 private:
  Received lend(std::vector<std::byte> octets, MutableBytes scratch);
  Received lend_first(MutableBytes scratch);
  Received lend_arrived(MutableBytes scratch);
  Received finish(IoStatus status);
  [[nodiscard]] std::size_t lend_limit(MutableBytes scratch) const;

  const LinkEnd end_;
  const std::uint64_t accepted_before_;  // octets accepted in streaming mode
  bool shut_down_ = false;
  bool aborted_ = false;

  std::vector<std::byte> first_;
  std::vector<std::byte> lent_memory_;  // freed when consumed, so that a late reader is noticed
  std::size_t lent_ = 0;
  bool lent_from_window_ = false;
  Received last_received_;  // final once its status is not kWouldBlock
};

}  // namespace iwarp::tcp_offload::sim
