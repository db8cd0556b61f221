#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "iwarp/tcp_offload/offloads.hpp"
#include "iwarp/tcp_offload/stream.hpp"
#include "mpa/wire_reader.hpp"
#include "mpa/wire_writer.hpp"

namespace iwarp::tcp_offload::sim {

/// A stream of FPDUs as the host has them over one of FPDUs as they are on the wire.
class MpaStream final : public Stream {
 public:
  MpaStream(std::unique_ptr<Stream> wire, const MpaTerms& negotiated, const MpaTerms& host);
  /// With something left unread the peer sees a reset: below all of it has been consumed.
  ~MpaStream() override;

  Received receive(MutableBytes scratch) override;
  void consume(std::size_t n) override;
  Sent send(std::span<const iovec> pieces) override;
  [[nodiscard]] std::uint64_t released() const override { return accepted_; }
  [[nodiscard]] Delivery delivery() const override;
  [[nodiscard]] std::size_t emss() const override;
  [[nodiscard]] std::size_t send_quantum() const override;
  [[nodiscard]] int descriptor() const override { return wire_->descriptor(); }
  void shutdown_send() override { wire_->shutdown_send(); }
  void abort() override { wire_->abort(); }
  void watch_peer(const PeerWatch& watch) override { wire_->watch_peer(watch); }
  [[nodiscard]] Endpoint local() const override { return wire_->local(); }
  [[nodiscard]] Endpoint remote() const override { return wire_->remote(); }

 private:
  /// Octets of the wire that the stream below may still read.
  struct Unreleased {
    std::uint64_t end;  // of those accepted
    std::vector<std::byte> octets;
  };

  Received lend(std::vector<std::byte> octets);
  Sent send_on_wire(std::vector<std::byte> octets);
  [[nodiscard]] std::uint64_t host_octets(std::uint64_t wire_octets) const;

  const bool inserts_markers_;
  WireReader reader_;
  bool told_error_ = false;
  std::vector<std::byte> lent_memory_;
  std::size_t lent_ = 0;

  WireWriter writer_;
  std::uint64_t accepted_ = 0;          // of the host
  std::uint64_t accepted_on_wire_ = 0;  // by the stream below
  std::deque<Unreleased> unreleased_;

  // Last: it may read from what is unreleased until it is gone.
  const std::unique_ptr<Stream> wire_;
};

}  // namespace iwarp::tcp_offload::sim
