#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dependent.hpp"
#include "iwarp/asio/connection.hpp"
#include "pool_core.hpp"
#include "registered_places.hpp"

namespace iwarp::asio::detail {

/// What stands behind a connection: a queue pair, the operations that wait for it, the messages
/// that wait for a receive. Split by role: connection_core.cpp (life), requests.cpp (queues),
/// checks.cpp (what is wrong with a request), failures.cpp (error codes and sentences).
class connection_core : public dependent, public std::enable_shared_from_this<connection_core> {
 public:
  connection_core(std::shared_ptr<domain_core> in, std::shared_ptr<pool_core> pool,
                  const connection_options& options);
  ~connection_core() override;
  /// The other half of the constructor: makes the queue pair. Throws.
  void attach();

  void connect(operation<nothing>& operation, const endpoint& to,
               const verbs::ConnectOptions& options);
  void adopt(operation<nothing>& operation, verbs::StreamingSocket& socket,
             const verbs::ConnectOptions& options);
  void accept(operation<nothing>& operation, verbs::ConnectionRequest& request,
              const verbs::ConnectOptions& options);
  void shutdown(operation<nothing>& operation);
  void close();
  void cancel_waiting();
  void cancel(operation_base& operation, cancel_scope scope) override;
  void shut_down() override;
  void give_up(operation_list& to) override;

  void receive(operation<message>& operation);
  void receive(posted_base& operation);
  void request(posted_base& operation);
  void atomic(posted_base& operation);

  // From the device.
  static void on_completion(const verbs::Completion& completion);
  void on_message(message arrived);
  void on_failed_message(const verbs::Completion& completion);

  [[nodiscard]] bool is_open() const;
  [[nodiscard]] connection_info info() const;
  [[nodiscard]] std::string why() const;
  [[nodiscard]] std::string last_failure() const;
  [[nodiscard]] verbs::QueuePair& qp() { return *qp_; }
  [[nodiscard]] const std::shared_ptr<domain_core>& domain_of() const { return domain_; }

 private:
  enum class stage { fresh, connecting, open, over };

  // Life.
  void begin_to_close();
  /// Whether this call fails since the connection is that of the parent process.
  [[nodiscard]] bool refuses() const { return domain_->device()->refuses(); }
  template <typename Start>
  void start_up(operation<nothing>& operation, Start start);
  void on_event(const verbs::ConnectionEvent& event);
  void on_established(const verbs::ConnectionEvent& event);
  void on_failed(const verbs::ConnectionEvent& event);
  void on_disconnected();
  void end_waits(error_code error);
  void end_list(operation_list& list, error_code error);
  void end_pending(operation_list& list, error_code error);

  // Queues; under the lock.
  [[nodiscard]] error_code check(const posted_base& operation);
  [[nodiscard]] error_code check_queue(const posted_base& operation);
  [[nodiscard]] error_code check_opcode(const posted_base& operation);
  [[nodiscard]] error_code check_remote(const posted_base& operation, std::uint64_t length);
  [[nodiscard]] error_code check_memory(const posted_base& operation);
  [[nodiscard]] std::optional<complaint> complain(const posted_base& operation);
  void submit(posted_base& operation);
  Result<void, verbs::PostError> post(posted_base& operation);
  Result<void, verbs::PostError> post_send(posted_base& operation, std::uint64_t wr_id);
  verbs::Sge place_for_atomic(posted_base& operation);
  verbs::Sge copy_of_message(posted_base& operation);
  static void give_back_place(posted_base& operation);
  [[nodiscard]] static received result_of(const verbs::Completion& completion);
  void post_pending(posted_base::queue which);
  void finish(posted_base& operation, const verbs::Completion& completion);
  void end(posted_base& operation, error_code error);
  void end(operation<message>& operation, error_code error);

  // Failures; under the lock.
  [[nodiscard]] error_code end_error();
  /// Whether why() has something to tell.
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] error_code status_error(const posted_base& operation, verbs::Status status);
  [[nodiscard]] error_code post_error(const posted_base& operation,
                                      const verbs::PostError& refused);
  error_code refuse(errc code, const posted_base& operation, const std::string& sentence);
  /// An operation has failed.
  void note(std::string sentence);
  /// The same, and that ends the connection.
  void note_end(std::string sentence);
  [[nodiscard]] std::string name() const;

  const std::shared_ptr<domain_core> domain_;
  const std::shared_ptr<pool_core> pool_;
  const connection_options options_;
  const std::uint32_t max_inline_;  // octets: what is asked for, or the device has
  std::optional<verbs::QueuePair> qp_;

  // In a session only.
  stage stage_ = stage::fresh;
  bool given_up_ = false;  // closed, or aborted by a cancellation
  bool closed_ = false;
  bool told_of_end_ = false;  // an operation has been
  connection_info info_;
  std::string last_failure_;
  std::string cause_of_end_;  // as an operation or the start-up has told it
  registrations::memo last_known_;
  operation<nothing>* start_up_ = nullptr;
  operation_list shutdowns_, message_waits_;
  operation_list pending_sends_, pending_receives_, posted_;
  std::uint32_t sends_posted_ = 0, receives_posted_ = 0;
  std::deque<message> messages_;
  // Of a closed one, whose end must not need memory, as a new deque does. Outside of a session.
  std::deque<message> dropped_;
  std::optional<registered_places> atomics_;  // results
  std::optional<registered_places> copies_;   // messages that are not registered, and not inline
  std::shared_ptr<connection_core> self_;     // while a closed connection sees its stream off
};

}  // namespace iwarp::asio::detail
