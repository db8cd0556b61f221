#pragma once

#include <memory>

#include "iwarp/tcp_offload/device.hpp"
#include "link.hpp"
#include "program.hpp"

namespace iwarp::tcp_offload::sim {

/// A connection in streaming mode over one end of a simulated connection.
class SimConnection final : public Connection {
 public:
  /// `program` holds it.
  SimConnection(LinkEnd end, Program& program);
  ~SimConnection() override;

  void async_read_some(MutableBytes into, TransferHandler handler) override;
  void async_read(MutableBytes into, TransferHandler handler) override;
  void async_write(ConstBytes from, TransferHandler handler) override;
  void cancel() override;
  void close() override;
  std::unique_ptr<Stream> hand_over(ConstBytes already_read, const MpaTerms& negotiated) override;
  int release_native() override { return -1; }
  [[nodiscard]] Endpoint local() const override { return local_; }
  [[nodiscard]] Endpoint remote() const override { return remote_; }

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the handlers that are to be called
  const Endpoint local_;
  const Endpoint remote_;
};

}  // namespace iwarp::tcp_offload::sim
