#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "iwarp/tcp_offload/stream.hpp"
#include "kernel/socket.hpp"

namespace iwarp::tcp_offload::kernel {

/// A stream over a connected non-blocking socket. It lends from the caller's scratch memory.
class KernelStream final : public Stream {
 public:
  /// `first` is lent before anything that the socket still holds.
  KernelStream(Socket socket, const Ends& ends, ConstBytes first);

  Received receive(MutableBytes scratch) override;
  void consume(std::size_t n) override;
  Sent send(std::span<const iovec> pieces) override;
  [[nodiscard]] std::uint64_t released() const override { return accepted_; }
  [[nodiscard]] Delivery delivery() const override;
  [[nodiscard]] std::size_t emss() const override { return emss_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t send_quantum() const override {
    return send_quantum_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] int descriptor() const override { return socket_.get(); }
  void shutdown_send() override;
  void abort() override;
  void watch_peer(const PeerWatch& watch) override { kernel::watch_peer(socket_.get(), watch); }
  [[nodiscard]] Endpoint local() const override { return local_; }
  [[nodiscard]] Endpoint remote() const override { return remote_; }

 private:
  Received lend(MutableBytes data);
  Received lend_first(MutableBytes scratch);
  Received end_receiving(int error);
  [[nodiscard]] int reset_behind_end() const;
  Sent end_sending(int error);
  Sent count_accepted(std::size_t n);
  void look_up_emss();
  int note_lost(int error);

  const Socket socket_;
  const Endpoint local_;
  const Endpoint remote_;

  // What either half may look at.
  std::atomic<std::size_t> emss_;
  std::atomic<std::size_t> send_quantum_{0};
  std::atomic<int> lost_{0};  // errno of the first half that saw the connection lost
  std::atomic<bool> shut_down_{false};
  std::atomic<bool> fin_queued_{false};

  // Receive half.
  std::vector<std::byte> first_;
  std::size_t first_lent_ = 0;
  std::size_t lent_ = 0;
  Received last_received_;  // final once its status is not kWouldBlock

  // Send half, on a cache line of its own.
  alignas(64) std::uint64_t accepted_ = 0;
  std::uint64_t emss_due_ = 0;  // the value of accepted_ at which EMSS is looked up again
  std::optional<bool> paced_;   // known from the first look on
  std::error_code send_error_;
};

}  // namespace iwarp::tcp_offload::kernel
