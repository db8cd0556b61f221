#include "agent/agent_server.hpp"

#include "agent/session.hpp"

namespace iwarp::agent {
namespace {

constexpr std::chrono::milliseconds kSlice{100};

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
                  turn_away_others_than(connection);
                  return !options_.stopped() && !connection.gone();
                }});
  bool spoke = false;
  std::string line;
  while (!options_.stopped()) {
    turn_away_others_than(connection);
    const auto got = connection.next(line, kSlice);
    if (got == ControlConnection::Got::kEnd) break;
    if (got == ControlConnection::Got::kNothing) continue;
    spoke = true;
    const bool too_long = got == ControlConnection::Got::kTooLong;
    const std::string answer =
        too_long ? error_line(std::make_error_code(std::errc::invalid_argument),
                              "the line is longer than " + std::to_string(kLongestLine) + " octets")
                 : session.answer(line);
    if (!connection.send(answer)) break;
  }
  return spoke;
}

void Server::turn_away_others_than(const ControlConnection& tester) {
  while (!tester.gone()) {
    auto other = listener_.next(std::chrono::milliseconds(0));
    if (!other) return;
    // Its command is read first: a socket closed with octets unread takes the answer with it.
    std::string command;
    other->next(command, kSlice);
    other->send(error_line(std::make_error_code(std::errc::device_or_resource_busy),
                           "the agent serves another tester"));
  }
}

}  // namespace iwarp::agent
