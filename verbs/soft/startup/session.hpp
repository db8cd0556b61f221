#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "iwarp/tcp_offload/device.hpp"
#include "soft/startup/startup.hpp"

namespace iwarp::verbs::soft {

/// A start-up that has one outcome, which is told once unless it is cancelled before. Belongs to
/// the executor, apart from cancel(). Its owner keeps it until the handler was called, or release()
/// was: the operations under way refer to it and do not own it.
template <typename Result>
class Session : public std::enable_shared_from_this<Session<Result>> {
 public:
  using Handler = std::function<void(Result)>;

  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Begins, unless it was cancelled before.
  void start() {
    if (phase_.load() == Phase::kRunning) begin();
  }
  /// Makes sure that the handler will not be called; any thread. True if it has done so: then
  /// release() is to follow. False if the handler is called, or cancel() was.
  bool cancel() { return leave_running_for(Phase::kCancelled); }
  /// Closes the connection and frees everything.
  void release() {
    drop();
    handler_ = nullptr;
  }

 protected:
  explicit Session(Handler handler) : handler_(std::move(handler)) {}

  virtual void begin() = 0;
  /// Closes the connection and frees what it took.
  virtual void drop() = 0;
  /// Tells the outcome. The handler may destroy everything.
  void finish(Result result) {
    const auto self = this->shared_from_this();
    const Handler handler = std::move(handler_);
    release();  // before the phase changes: from then on this may be destroyed on any thread
    if (leave_running_for(Phase::kReported)) handler(std::move(result));
  }
  /// Whether the handler has been called, or is being.
  [[nodiscard]] bool reported() const { return phase_.load() == Phase::kReported; }

 private:
  enum class Phase : std::uint8_t { kRunning, kCancelled, kReported };

  bool leave_running_for(Phase next) {
    Phase running = Phase::kRunning;
    return phase_.compare_exchange_strong(running, next);
  }

  Handler handler_;
  std::atomic<Phase> phase_{Phase::kRunning};
};

/// What its user holds of a session that begins with start(). Once the session's cancel() has said
/// no, the device is not used.
template <typename Result>
class SessionStartup final : public Startup {
 public:
  SessionStartup(tcp_offload::Device& device, std::shared_ptr<Session<Result>> session)
      : device_(device), session_(std::move(session)) {}
  ~SessionStartup() override { SessionStartup::cancel(); }

  void cancel() override {
    if (!session_->cancel()) return;
    device_.post([session = session_] { session->release(); });
  }

 private:
  tcp_offload::Device& device_;
  const std::shared_ptr<Session<Result>> session_;
};

/// Lets a session begin on the executor.
template <typename Result>
std::unique_ptr<Startup> begin_session(tcp_offload::Device& device,
                                       std::shared_ptr<Session<Result>> session) {
  auto startup = std::make_unique<SessionStartup<Result>>(device, session);
  device.post([session = std::move(session)] { session->start(); });
  return startup;
}

}  // namespace iwarp::verbs::soft
