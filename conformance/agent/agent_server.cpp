#include "agent/agent_server.hpp"

#include "agent/session.hpp"

namespace iwarp::agent {
namespace {

constexpr std::chrono::milliseconds kSlice{100};
constexpr std::chrono::milliseconds kOthersWait{500};

}  // namespace

Server::Server(verbs::Device device, ServerOptions options)
    : device_(std::move(device)), options_(std::move(options)), listener_(options_.listen) {}

void Server::run() {
  bool served = false;
  while (!options_.stopped() && !(served && options_.once)) {
    if (auto connection = listener_.next(kSlice)) served = serve(std::move(*connection)) || served;
  }
}

bool Server::serve(ControlConnection connection) {
  Session session(
      device_, {.address = connection.local_address(), .port = options_.iwarp_port, .attend = [&] {
                  turn_others_away();
                  return !options_.stopped() && !connection.gone();
                }});
  other_since_.reset();
  bool spoke = false;
  std::string line;
  while (!options_.stopped()) {
    turn_others_away();
    const auto got = connection.next(line, kSlice);
    if (got == ControlConnection::Got::kEnd) break;
    if (got == ControlConnection::Got::kNothing) continue;
    spoke = true;
    const bool too_long = got == ControlConnection::Got::kTooLong;
    const std::string answer =
        too_long ? error_line(std::make_error_code(std::errc::invalid_argument),
                              "the line is longer than " +
                                  std::to_string(agent_protocol::kLongestLine) + " octets")
                 : session.answer(line);
    if (!connection.send(answer)) break;
  }
  return spoke;
}

// The end of a tester may be seen later than the beginning of the next: that one waits a little.
void Server::turn_others_away() {
  const auto now = std::chrono::steady_clock::now();
  if (!listener_.has_next()) return other_since_.reset();
  if (!other_since_) other_since_ = now;
  if (now - *other_since_ < kOthersWait) return;
  while (auto other = listener_.next(std::chrono::milliseconds(0))) {
    // Its command is read first: a socket closed with octets unread takes the answer with it.
    std::string command;
    other->next(command, kSlice);
    other->send(error_line(std::make_error_code(std::errc::device_or_resource_busy),
                           "the agent serves another tester"));
  }
}

}  // namespace iwarp::agent
