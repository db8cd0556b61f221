#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "native_qp.hpp"

namespace iwarp::rnic {

/// The connection of a queue pair, from its start-up to its end. What may wait, and all that the
/// program is told, is on the loop's thread. Any thread.
class Connection final : public CmTarget,
                         public QpEventTarget,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Host> host, std::shared_ptr<NativeQp> qp,
             verbs::ConnectionHandler on_event, std::chrono::milliseconds linger)
      : host_(std::move(host)),
        qp_(std::move(qp)),
        linger_(linger),
        on_event_(std::make_shared<const verbs::ConnectionHandler>(std::move(on_event))) {}
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // As provider::Qp has them.
  verbs::Outcome<void> connect(const verbs::Endpoint& to, const verbs::ConnectOptions& options);
  void disconnect();
  void close();
  void abort();
  /// The program hears nothing more.
  void release();

  /// Answers yes to a peer's request, of which `asked` tells. Errors: EISCONN if it is not idle.
  /// The identifier is taken unless this fails so.
  verbs::Outcome<void> accept(CmId& id, const verbs::ConnectionInfo& asked,
                              const verbs::ConnectOptions& options);

  [[nodiscard]] verbs::QpState state() const { return state_.load(); }
  [[nodiscard]] bool drained() const { return settled_.load(); }
  [[nodiscard]] verbs::Diagnosis diagnosis() const;

  // CmTarget, QpEventTarget
  void on_cm_event(CmEvent event) override;
  void on_qp_event(const std::string& what) override;
  void on_adapter_lost(const std::string& what) override;

 private:
  using Clock = CmLoop::Clock;
  using State = verbs::QpState;
  using Event = verbs::ConnectionEvent;

  [[nodiscard]] const Adapter& adapter() const { return *host_->adapter(); }
  bool advance(State from, State to) { return state_.compare_exchange_strong(from, to); }
  void tell(const Event& event);
  template <typename Step>
  void take_step(Step step);
  void on_event(CmEvent event);
  void explain(verbs::EndedBy by, bool graceful, std::string_view sentence) noexcept;
  template <typename Step>
  void soon(Step step);
  template <typename Step>
  void ask(Step step);
  template <typename Step>
  void later(Clock::duration wait, Step step);

  // Start-up, of the side that connects.
  void begin();
  void dial();
  void on_address();
  void on_route();
  void connect_apart();
  [[nodiscard]] int milliseconds_left() const;
  void fail_step(const std::string& what, int error);
  void fail_start(Event event);
  void finish_failed_start();
  [[nodiscard]] bool draws_again(int error);
  [[nodiscard]] bool tries_again(const verbs::Error& error);

  // Of both sides.
  template <typename Call>
  int with_id(Call call);
  [[nodiscard]] rdma_conn_param parameters_with(std::uint16_t ird, std::uint16_t ord) const;
  void begin_call();
  [[nodiscard]] bool is_inside();
  void on_call_returned(int error);
  void fail_call(int error);
  void on_established(const CmEvent& event);
  void on_refused(CmEvent event);
  void fill_in(verbs::ConnectionInfo& info, const CmEvent& event);

  // The end.
  void finish_then_disconnect();
  void end_at_once(verbs::Error error);
  void on_disconnected();
  [[nodiscard]] verbs::Error why_disconnected();
  void end(verbs::Error error);
  void await_flushed(int looks_left);
  void give_up_posted();
  void give_up_start();
  void destroy_apart();
  void drop_id();

  const std::shared_ptr<Host> host_;
  const std::shared_ptr<NativeQp> qp_;
  const std::chrono::milliseconds linger_;
  std::atomic<State> state_{State::kIdle};
  std::atomic<bool> settled_{false};

  mutable std::mutex mutex_;
  std::shared_ptr<const verbs::ConnectionHandler> on_event_;
  verbs::Diagnosis diagnosis_;
  std::optional<std::string> fault_;  // what the adapter has said of the queue pair

  std::mutex id_mutex_;
  CmId id_;  // with id_mutex_ held
  bool inside_ =
      false;  // a thread is inside rdma_connect() or rdma_accept(): it keeps its identifier
  bool owed_ = false;  // no event has told of the outcome of that
  bool released_ = false;
  std::condition_variable returned_;  // inside_ is over

  // Set before the loop's thread has a part in it, and that thread's from then on.
  bool passive_ = false;
  verbs::Endpoint to_;
  verbs::ConnectOptions options_;
  Clock::time_point deadline_, retry_until_, linger_until_;
  unsigned draws_left_ = kDraws;  // how often a port of this end may still be drawn anew
  verbs::ConnectionInfo info_;
  bool ends_ = false;
  bool told_of_end_ = false;
  bool hurries_ = false;               // there was no memory for a step of the end
  std::optional<Event> failed_start_;  // until the program has been told
  verbs::Error end_error_;
};

}  // namespace iwarp::rnic
