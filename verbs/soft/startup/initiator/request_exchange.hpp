#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <system_error>

#include "iwarp/mpa/initiator.hpp"
#include "iwarp/tcp_offload/device.hpp"

namespace iwarp::verbs::soft {

/// The initiator's start-up frames on a connection: the Request goes out, the Reply comes in. On
/// the executor. The connection is destroyed first: its operations refer to this.
class RequestExchange {
 public:
  explicit RequestExchange(mpa::Initiator initiator) : initiator_(std::move(initiator)) {}
  RequestExchange(const RequestExchange&) = delete;
  RequestExchange& operator=(const RequestExchange&) = delete;

  /// Once. `already_read` came before what is read here, and stays valid. `done` is called when the
  /// outcome is no longer pending; it may destroy this.
  void start(tcp_offload::Connection& connection, ConstBytes already_read,
             std::function<void()> done);

  /// This end cannot go on: changes the outcome.
  void on_local_error() { initiator_.on_local_error(); }

  [[nodiscard]] mpa::InitiatorOutcome outcome() const { return initiator_.outcome(); }
  /// Those of the octets already read that follow the Reply.
  [[nodiscard]] ConstBytes behind_reply() const { return already_read_; }
  /// Octets of the Reply that have come.
  [[nodiscard]] std::size_t received() const { return reply_size_; }
  /// Why the connection was lost, if it was.
  [[nodiscard]] std::error_code lost() const { return lost_; }

 private:
  void take_already_read();
  void read();
  void on_read(std::error_code error, std::size_t n);
  void on_lost(std::error_code error);
  void go_on();

  mpa::Initiator initiator_;
  tcp_offload::Connection* connection_ = nullptr;
  ConstBytes already_read_;
  std::function<void()> done_;
  std::array<std::byte, mpa::kMaxStartupFrameSize> reply_;
  std::size_t reply_size_ = 0;  // octets of it that have come
  std::error_code lost_;
};

}  // namespace iwarp::verbs::soft
