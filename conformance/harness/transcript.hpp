#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "wire/fpdu.hpp"
#include "wire/octets.hpp"

namespace iwarp::conform {

using Clock = std::chrono::steady_clock;

/// The two ends of a TCP connection, for captures. Numeric addresses.
struct ConnectionEnds {
  std::string tester_address, target_address;
  std::uint16_t tester_port = 0, target_port = 0;
  bool tester_connected = true;  ///< Otherwise the target did.
};

/// What happened in a case, in order. Octets stand in it twice: as they went through the socket,
/// for the capture, and as frames, for the reader.
struct Event {
  enum class Kind {
    kNote,             ///< `text`
    kAgentCommand,     ///< `text`
    kAgentReply,       ///< `text`
    kConnected,        ///< a TCP connection begins
    kRawSent,          ///< `octets` as given to the socket
    kRawReceived,      ///< `octets` as read from it
    kStartupSent,      ///< one start-up frame, or what is sent instead of one
    kStartupReceived,  ///< the same from the target
    kFpduSent,         ///< one FPDU
    kFpduReceived,     ///< one FPDU; `faults` in its framing
    kFinSent,
    kFinReceived,
    kResetSent,
    kResetReceived,
    kExpectation,  ///< `text`: something was as it should be
    kFailure,      ///< `text`: what was expected and what came
  };
  Kind kind = Kind::kNote;
  Clock::duration at{};        ///< Since the case began.
  std::size_t connection = 0;  ///< Index into Transcript::connections.
  Octets octets{};
  std::string text{};
  Framing framing{};           ///< kFpdu*: how to read `octets`.
  std::uint64_t position = 0;  ///< kFpdu*: where they stand in their direction of the stream.
  std::vector<std::string> faults{};
};

class Transcript {
 public:
  Transcript() : start_(Clock::now()), started_at_(std::chrono::system_clock::now()) {}

  void note(std::string text) { add({.kind = Event::Kind::kNote, .text = std::move(text)}); }
  Event& add(Event event) {
    event.at = Clock::now() - start_;
    return events_.emplace_back(std::move(event));
  }
  std::size_t add_connection(ConnectionEnds ends) {
    connections_.push_back(std::move(ends));
    add({.kind = Event::Kind::kConnected, .connection = connections_.size() - 1});
    return connections_.size() - 1;
  }

  const std::deque<Event>& events() const { return events_; }
  const std::vector<ConnectionEnds>& connections() const { return connections_; }
  std::chrono::system_clock::time_point started_at() const { return started_at_; }

 private:
  Clock::time_point start_;
  std::chrono::system_clock::time_point started_at_;
  std::deque<Event> events_;
  std::vector<ConnectionEnds> connections_;
};

}  // namespace iwarp::conform
