#include "report/reported_events.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "decode/cursor.hpp"
#include "wire/startup_frame.hpp"

namespace iwarp::conform {
namespace {

using Kind = Event::Kind;

bool is_raw(Kind kind) { return kind == Kind::kRawSent || kind == Kind::kRawReceived; }
bool is_startup(Kind kind) { return kind == Kind::kStartupSent || kind == Kind::kStartupReceived; }
bool is_fpdu(Kind kind) { return kind == Kind::kFpduSent || kind == Kind::kFpduReceived; }
bool is_received(Kind kind) {
  return kind == Kind::kRawReceived || kind == Kind::kStartupReceived ||
         kind == Kind::kFpduReceived;
}

// One direction of one connection.
struct Direction {
  Octets framed;       // the octets of all its frames
  std::size_t at = 0;  // how many of them the socket events so far account for
  std::optional<StartupFrame> startup;
  std::optional<Framing> framing;  // of its last FPDU
  std::uint64_t position = 0;      // behind it
  std::optional<FpduReader> reader;
  Octets unframed;             // received and not in any frame
  std::size_t last_event = 0;  // of those reported, that brought some of them
};

class EventReporter {
 public:
  explicit EventReporter(const Transcript& transcript) : transcript_(transcript) { survey(); }

  std::vector<ReportedEvent> report() {
    for (const Event& event : transcript_.events()) {
      if (is_raw(event.kind)) {
        report_raw(event);
      } else {
        add(event, decode(event));
      }
    }
    report_rests();
    return std::move(reported_);
  }

 private:
  Direction& direction(const Event& event) {
    return directions_[{event.connection, is_received(event.kind)}];
  }

  void survey() {
    for (const Event& event : transcript_.events()) {
      if (!is_startup(event.kind) && !is_fpdu(event.kind)) continue;
      Direction& direction = this->direction(event);
      put(direction.framed, event.octets);
      if (is_startup(event.kind)) {
        std::size_t size = 0;
        direction.startup = parse_startup_frame(event.octets, size);
      } else {
        direction.framing = event.framing;
        direction.position = event.position + event.octets.size();
      }
    }
  }

  ReportedEvent& add(Event event, Decoded decoded) {
    return reported_.emplace_back(
        ReportedEvent{.event = std::move(event), .decoded = std::move(decoded)});
  }

  // Socket events and frames have the same octets. What is beyond the frames is reported besides.
  void report_raw(const Event& event) {
    Direction& direction = this->direction(event);
    const OctetView ahead = OctetView(direction.framed).subspan(direction.at);
    const OctetView octets(event.octets);
    const auto same = static_cast<std::size_t>(
        std::mismatch(octets.begin(), octets.end(), ahead.begin(), ahead.end()).first -
        octets.begin());
    const bool beyond = same == ahead.size() && is_received(event.kind);
    ReportedEvent& reported = add(event, decode(event));
    reported.framed = same == octets.size() || beyond;
    if (!reported.framed) return;
    direction.at += same;
    if (same < octets.size()) report_unframed(direction, event, octets.subspan(same));
  }

  // How received octets are framed: as the FPDUs before them, or as the start-up frames agree.
  std::optional<Framing> framing_of(const Direction& received, std::size_t connection) {
    if (received.framing) return received.framing;
    const Direction& sent = directions_[{connection, false}];
    if (!sent.startup || !received.startup) return std::nullopt;
    return framing_to(*sent.startup, *received.startup);
  }

  void report_unframed(Direction& direction, const Event& raw, OctetView octets) {
    const auto framing = framing_of(direction, raw.connection);
    if (framing && !direction.reader) direction.reader.emplace(*framing, direction.position);
    put(direction.unframed, octets);
    if (direction.reader) {
      direction.reader->add(octets);
      while (const auto fpdu = direction.reader->next()) {
        direction.unframed.erase(
            direction.unframed.begin(),
            direction.unframed.begin() + static_cast<std::ptrdiff_t>(fpdu->wire.size()));
        direction.position = fpdu->position + fpdu->wire.size();
        Event event{.kind = Kind::kFpduReceived,
                    .at = raw.at,
                    .connection = raw.connection,
                    .octets = fpdu->wire,
                    .framing = *framing,
                    .position = fpdu->position,
                    .faults = fpdu->faults};
        Decoded decoded = decode(event);
        decoded.summary += "; the case did not wait for it";
        add(std::move(event), std::move(decoded));
      }
    }
    direction.last_event = reported_.size();
  }

  // Octets that never became a frame, where the last of them came. From behind, as each insertion
  // moves what follows it.
  void report_rests() {
    std::vector<std::pair<std::size_t, ReportedEvent>> rests;
    for (const auto& [key, direction] : directions_) {
      if (direction.unframed.empty()) continue;
      rests.emplace_back(direction.last_event, reported_rest(key.first, direction));
    }
    std::stable_sort(rests.begin(), rests.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [at, reported] : rests) {
      reported.event.at = reported_[at - 1].event.at;
      reported_.insert(reported_.begin() + static_cast<std::ptrdiff_t>(at), std::move(reported));
    }
  }

  ReportedEvent reported_rest(std::size_t connection, const Direction& direction) {
    Event event{
        .kind = Kind::kStartupReceived, .connection = connection, .octets = direction.unframed};
    if (const auto framing = framing_of(direction, connection)) {
      event.kind = Kind::kFpduReceived;
      event.framing = *framing;
      event.position = direction.position;
    } else if (event.octets.front() != static_cast<std::uint8_t>(kRequestKey.front())) {
      event.kind = Kind::kRawReceived;
    }
    Decoded decoded = decode(event);
    decoded.summary = count_of(event.octets.size()) + " that are no whole frame" +
                      (event.kind == Kind::kRawReceived ? "" : ": " + decoded.summary);
    return {.event = std::move(event), .decoded = std::move(decoded)};
  }

  const Transcript& transcript_;
  std::map<std::pair<std::size_t, bool>, Direction> directions_;
  std::vector<ReportedEvent> reported_;
};

}  // namespace

std::vector<ReportedEvent> reported_events(const Transcript& transcript) {
  return EventReporter(transcript).report();
}

}  // namespace iwarp::conform
