#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "iwarp/process/descriptor.hpp"
#include "stream.hpp"
#include "waiter.hpp"
#include "wire/options.hpp"
#include "wire/scatter.hpp"

namespace iwarp::rsocket {

/// One rsocket. Functions that mirror a socket call return what it returns, or the negative errno.
///
/// Thread-safe: one mutex guards all. No thread of its own drives a connected socket: each caller
/// takes what has come, and tells the others that wait for the same socket. A thread that waits
/// sleeps without the mutex, on the socket's events and its Waiter.
class Socket : public std::enable_shared_from_this<Socket> {
 public:
  using Handle = std::shared_ptr<Socket>;
  using Lock = std::unique_lock<std::mutex>;

  /// A socket that is not connected. Returns 0 or an errno.
  static int create(int domain, Handle& out);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  /// The descriptor by which the program knows it: its own, readable when there may be news.
  [[nodiscard]] int number() const { return number_.get(); }

  int bind(const sockaddr* address, socklen_t length);
  int listen(int backlog);
  int connect(const sockaddr* address, socklen_t length);
  /// Waits for a connection and gives it to `out`.
  int accept(Handle& out);
  int shutdown(int how);
  /// Ends the connection in order: what was sent arrives. Waits for that up to the linger time, or
  /// kCloseWait. Other threads' calls return.
  int close();
  /// As close(), when the process ends: only until then, and not if another thread is busy with it.
  void finish_by(Clock::time_point deadline);
  static constexpr std::chrono::seconds kCloseWait{5};

  ssize_t receive(std::span<const iovec> to, int flags);
  ssize_t send(std::span<const iovec> from, int flags);
  off_t map(void* memory, std::size_t length, int protection, off_t offset);
  int unmap(const void* memory, std::size_t length);
  ssize_t write_mapped(std::span<const iovec> from, off_t offset, int flags);

  int local_name(sockaddr* address, socklen_t* length);
  int peer_name(sockaddr* address, socklen_t* length);
  int set_option(int level, int name, const void* value, socklen_t length);
  int get_option(int level, int name, void* value, socklen_t* length);
  [[nodiscard]] bool blocking();
  void set_blocking(bool blocking);

  /// What poll(2) would say of it now.
  short poll(short events);
  /// Has `waiter` woken by what happens from now on. False if poll(events) is not 0 any more; then
  /// `waiter` is not known here.
  bool start_waiting(Waiter& waiter, short events);
  void stop_waiting(Waiter& waiter);
  /// The entry for sleeping on it.
  [[nodiscard]] pollfd entry() const {
    return {.fd = events_.get(), .events = POLLIN, .revents = 0};
  }

  // For the AcceptService, which drives listeners and what they accept until it is connected.
  enum class Service { kContinue, kPause, kDone };
  /// Takes what the connection manager has to say. `accepted` gets new sockets to be driven.
  Service serve(std::vector<Handle>& accepted);
  /// Whether a listener's queue has room.
  [[nodiscard]] bool takes_requests();
  [[nodiscard]] int manager_fd() const { return channel_->fd; }

 private:
  enum class State {
    kOpen,
    kListening,
    kResolvingAddress,
    kResolvingRoute,
    kConnecting,
    kAccepting,
    kConnected,
    kFailed,
  };

  explicit Socket(int domain);

  // socket.cpp
  int open_descriptors();
  int open_id();
  /// Whether a wait goes on when the socket is closed: only that of close() itself.
  enum class Closed { kFails, kGoesOn };
  /// Waits until `ready()`, which is asked with the mutex held. EAGAIN at the deadline, EINTR after
  /// a signal, EBADF when the socket is closed meanwhile.
  template <typename Ready>
  int wait(Lock& lock, const Deadline& deadline, Ready ready, Closed closed = Closed::kFails);
  int sleep(Lock& lock, const Deadline& deadline);
  bool prepare_sleep();
  void after_sleep();
  bool advance();
  short poll_now(short events);
  [[nodiscard]] short connected_events() const;
  void note_end();
  [[nodiscard]] int take_error() { return std::exchange(error_, 0); }
  void drain(Lock& lock, const Deadline& deadline);
  void disconnect();
  int close_listener(Lock& lock);

  // socket_connect.cpp
  int start_connecting(const sockaddr* address);
  int start_over();
  int apply_id_options();
  [[nodiscard]] bool connecting() const;
  bool take_manager_events();
  void handle(const rdma_cm_event& event);
  void fail(int error);
  void resolve_route();
  void request_connection();
  void established(const rdma_cm_event& event);
  void disconnected();
  int open_stream();
  static rdma_conn_param parameters(const std::array<std::byte, Hello::kSize>& hello);

  // socket_accept.cpp
  static Handle answer(const Handle& listener, rdma_cm_id* id, ConstBytes private_data);
  int accept_request(rdma_cm_id* id, const Hello& peer);
  Service serve_listener(std::vector<Handle>& accepted);
  bool offer(Handle accepted);
  [[nodiscard]] bool queue_full() const;

  // socket_transfer.cpp
  /// Whether a call with these flags waits.
  [[nodiscard]] bool waits(int flags) const { return blocking_ && (flags & MSG_DONTWAIT) == 0; }
  int check_connected(Lock& lock, int flags);
  int wait_to_send(Lock& lock, int flags, const Deadline& deadline, bool mapped);
  int end_of_sending();
  [[nodiscard]] bool at_end() const;

  const int domain_;
  std::mutex mutex_;
  Options options_;
  State state_ = State::kOpen;
  bool blocking_ = true, closed_ = false, bound_ = false;
  bool read_shut_ = false, write_shut_ = false;
  bool end_noted_ = false, disconnect_called_ = false;
  int error_ = 0;  // SO_ERROR
  Waiters waiters_;

  rdma_event_channel* channel_ = nullptr;
  rdma_cm_id* id_ = nullptr;
  std::unique_ptr<Stream> stream_;
  process::Descriptor events_;  // an epoll set of the channel and the completion channel
  process::Descriptor number_;  // a duplicate of it

  // Listeners.
  std::deque<Handle> accepted_;
  std::size_t backlog_ = 0;
  // What a listener accepts.
  std::weak_ptr<Socket> listener_;
  std::optional<Hello> greeting_;  // of the peer that asked
};

}  // namespace iwarp::rsocket
