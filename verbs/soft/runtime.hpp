#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "iwarp/tcp_offload/capture.hpp"
#include "iwarp/tcp_offload/kernel_device.hpp"
#include "soft/engine.hpp"
#include "soft/host.hpp"
#include "soft/memory_registry.hpp"
#include "soft/secret.hpp"

namespace iwarp::verbs::soft {

/// What the software provider runs on: the kernel stream device with its executor thread for
/// set-up and news, the engine thread for sockets in RDMA mode, and the table of STags. Lives as
/// long as anything made from it.
class Runtime final : public Host {
 public:
  /// With both threads running: later nobody could be told that there is none. The last owner may
  /// be one of them; it is then destroyed by another. Throws std::system_error, std::bad_alloc.
  static std::shared_ptr<Runtime> make();
  ~Runtime() override;

  tcp_offload::Device& device() { return recordable_; }
  /// The same, with every connection recorded into `capture`; device() itself if that is empty, or
  /// if the environment has said where (IWARP_CAPTURE).
  tcp_offload::Device& device(const std::string& capture);
  [[nodiscard]] const std::shared_ptr<MemoryRegistry>& registry() const { return registry_; }
  void finish() { engine_.finish(); }
  void on_async_event(std::function<void(const AsyncEvent&)> handler);
  std::optional<AsyncEvent> wait_async_event(std::chrono::milliseconds timeout);

  ddp::StagTable& stags() override { return registry_->table(); }
  MemoryRegistry& memory() override { return *registry_; }
  [[nodiscard]] std::chrono::steady_clock::time_point now() const override {
    return std::chrono::steady_clock::now();
  }
  std::chrono::steady_clock::time_point running() override { return engine_.running(); }
  std::uint32_t secret() override { return static_cast<std::uint32_t>(require_secret()); }
  void post(std::function<void()> task) override;
  void report(AsyncEvent event) override;
  std::error_code add(SoftQp& qp) override { return engine_.add(qp); }
  void remove(SoftQp& qp) override { engine_.remove(qp); }
  void want_write(SoftQp& qp) override { engine_.want_write(qp); }
  void help() override { engine_.help(); }
  void waiter_left() override { engine_.waiter_left(); }
  void look_again(SoftQp& qp) override { engine_.look_again(qp); }
  void want_read(SoftQp& qp) override { engine_.want_read(qp); }
  void stop_lease(SoftCq& cq) override { engine_.stop_lease(cq); }
  void see_off(ClosingStream closing) override { engine_.see_off(std::move(closing)); }
  void account_tail(std::ptrdiff_t octets) override { engine_.account_tail(octets); }
  [[nodiscard]] bool tail_room() const override { return engine_.tail_room(); }

 private:
  static constexpr std::size_t kMostAsyncEvents = 1024;

  Runtime();
  void run_executor();
  bool take_turn();
  [[nodiscard]] bool on_own_thread() const;

  // Without the hint that one thread runs it: with that, what the executor posts waits until its
  // handler returns, and the engine's later tasks overtake it.
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  tcp_offload::KernelDevice device_;
  const std::string capture_everything_ = tcp_offload::capture_directory();
  tcp_offload::CaptureDevice recordable_{device_, capture_everything_};
  std::mutex captures_mutex_;
  std::map<std::string, tcp_offload::CaptureDevice> captures_;  // by directory
  std::shared_ptr<MemoryRegistry> registry_;

  std::mutex events_mutex_;
  std::condition_variable events_changed_;
  std::deque<AsyncEvent> events_;
  std::function<void(const AsyncEvent&)> on_event_;

  Engine engine_;
  std::promise<void> ran_out_;  // the executor has nothing left to do, or was stopped
  std::thread executor_;
};

}  // namespace iwarp::verbs::soft
