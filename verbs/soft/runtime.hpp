#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "iwarp/provider/async_events.hpp"
#include "iwarp/provider/lock.hpp"
#include "iwarp/tcp_offload/capture.hpp"
#include "iwarp/tcp_offload/kernel_device.hpp"
#include "soft/engine/engine.hpp"
#include "soft/memory_registry.hpp"
#include "soft/platform.hpp"
#include "soft/secret.hpp"

namespace iwarp::verbs::soft {

/// What the software provider runs on: the kernel stream device with its executor thread for
/// set-up and news, the engine thread for sockets in RDMA mode, and the table of STags. Lives as
/// long as anything made from it.
class Runtime final : public Platform, public Executor {
 public:
  /// With both threads running: later no caller could be told that there is none. The last owner
  /// may be one of them; it is then destroyed by another. `interface` is KernelOptions'. Throws
  /// std::system_error, std::bad_alloc.
  static std::shared_ptr<Runtime> make(const std::string& interface = {});
  ~Runtime() override;

  // Platform
  [[nodiscard]] const Services& services() const override { return services_; }
  [[nodiscard]] tcp_offload::Device& device() override { return recordable_; }
  /// device() also if the environment has said where to record (IWARP_CAPTURE).
  [[nodiscard]] tcp_offload::Device& device(const std::string& capture) override;
  void finish() override { engine_.finish(); }

  // Executor
  void post(std::function<void()> task) override { device().post(std::move(task)); }

  [[nodiscard]] AsyncEvents& events() { return events_; }

 private:
  explicit Runtime(const std::string& interface);
  void run_executor();
  bool take_turn();
  [[nodiscard]] bool on_own_thread() const;
  static std::uint32_t secret() { return static_cast<std::uint32_t>(require_secret()); }

  // Without the hint that one thread runs it: with that, what the executor posts waits until its
  // handler returns, and the engine's later tasks overtake it.
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  tcp_offload::KernelDevice device_;
  const std::string capture_everything_ = tcp_offload::capture_directory();
  tcp_offload::CaptureDevice recordable_{device_, capture_everything_};
  Mutex captures_mutex_;
  std::map<std::string, tcp_offload::CaptureDevice> captures_
      IWARP_GUARDED_BY(captures_mutex_);  // by directory
  std::shared_ptr<MemoryRegistry> registry_;

  AsyncEvents events_;
  Engine engine_;
  const Services services_{registry_,        engine_,          engine_,
                           engine_.halves(), engine_.time(),   *this,
                           events_,          &Runtime::secret, [] { std::this_thread::yield(); }};
  std::promise<void> ran_out_;  // the executor has nothing left to do, or was stopped
  std::thread executor_;
};

}  // namespace iwarp::verbs::soft
