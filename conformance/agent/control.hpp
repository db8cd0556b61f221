#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "iwarp/process/descriptor.hpp"
#include "iwarp/verbs/connection.hpp"

/// The sockets of the control connection. System errors are thrown as std::system_error, a tester
/// that breaks off never is.
namespace iwarp::agent {

/// The tester's connection, line by line.
class ControlConnection {
 public:
  explicit ControlConnection(process::Descriptor socket);

  enum class Got { kLine, kTooLong, kNothing, kEnd };
  /// The next line without its LF. One that is too long is passed over as far as its LF.
  Got next(std::string& line, std::chrono::milliseconds timeout);
  /// Adds the LF. False if the tester has gone or takes nothing for half a minute.
  bool send(std::string_view line);
  /// Whether the tester has closed its end.
  [[nodiscard]] bool gone() const;
  [[nodiscard]] verbs::Address local_address() const;

 private:
  bool take_line(std::string& line, Got& got);

  process::Descriptor socket_;
  std::string received_;
  std::size_t searched_ = 0;  // so many octets of it hold no LF
  bool skipping_ = false;     // the rest of a line that was too long
};

class ControlListener {
 public:
  explicit ControlListener(const verbs::Endpoint& at);
  [[nodiscard]] verbs::Endpoint endpoint() const;
  /// Whether a connection waits to be taken.
  [[nodiscard]] bool has_next() const;
  std::optional<ControlConnection> next(std::chrono::milliseconds timeout);

 private:
  process::Descriptor socket_;
};

}  // namespace iwarp::agent
