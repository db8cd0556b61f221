#pragma once

#include <memory>
#include <string>

#include "capture/recorder.hpp"
#include "iwarp/tcp_offload/device.hpp"

namespace iwarp::tcp_offload::capture {

/// A connection in streaming mode that is recorded, or could be yet.
class CapturedConnection final : public Connection {
 public:
  /// `offloads` are those of the device of `inner`.
  CapturedConnection(std::unique_ptr<Connection> inner, std::shared_ptr<Recorder> recorder,
                     Offloads offloads)
      : inner_(std::move(inner)), recorder_(std::move(recorder)), offloads_(offloads) {}
  ~CapturedConnection() override;

  void async_read_some(MutableBytes into, TransferHandler handler) override;
  void async_read(MutableBytes into, TransferHandler handler) override;
  void async_write(ConstBytes from, TransferHandler handler) override;
  void cancel() override { inner_->cancel(); }
  void close() override;
  std::unique_ptr<Stream> hand_over(ConstBytes already_read, const MpaTerms& negotiated) override;
  int release_native() override;
  [[nodiscard]] Endpoint local() const override { return inner_->local(); }
  [[nodiscard]] Endpoint remote() const override { return inner_->remote(); }

  void begin(const std::string& directory) { recorder_->start(directory); }

 private:
  TransferHandler recording(MutableBytes into, TransferHandler handler);
  void note(std::error_code error);

  std::unique_ptr<Connection> inner_;
  const std::shared_ptr<Recorder> recorder_;
  const Offloads offloads_;
  std::size_t read_ = 0;  // octets
  bool gone_ = false;     // it was handed over
};

}  // namespace iwarp::tcp_offload::capture
