#include "report/story.hpp"

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
  std::size_t last_event = 0;  // of the story, that brought some of them
};

class Teller {
 public:
  explicit Teller(const Transcript& transcript) : transcript_(transcript) { survey(); }

  std::vector<Told> tell() {
    for (const Event& event : transcript_.events()) {
      if (is_raw(event.kind)) {
        tell_raw(event);
      } else {
        add(event, decode(event));
      }
    }
    tell_rests();
    return std::move(story_);
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

  Told& add(Event event, Decoded decoded) {
    return story_.emplace_back(Told{.event = std::move(event), .decoded = std::move(decoded)});
  }

  // Socket events and frames tell the same octets. What is beyond the frames is news.
  void tell_raw(const Event& event) {
    Direction& direction = this->direction(event);
    const OctetView ahead = OctetView(direction.framed).subspan(direction.at);
    const OctetView octets(event.octets);
    const auto same = static_cast<std::size_t>(
        std::mismatch(octets.begin(), octets.end(), ahead.begin(), ahead.end()).first -
        octets.begin());
    const bool beyond = same == ahead.size() && is_received(event.kind);
    Told& told = add(event, decode(event));
    told.framed = same == octets.size() || beyond;
    if (!told.framed) return;
    direction.at += same;
    if (same < octets.size()) tell_unframed(direction, event, octets.subspan(same));
  }

  // How received octets are framed: as the FPDUs before them, or as the start-up frames agree.
  std::optional<Framing> framing_of(const Direction& received, std::size_t connection) {
    if (received.framing) return received.framing;
    const Direction& sent = directions_[{connection, false}];
    if (!sent.startup || !received.startup) return std::nullopt;
    return framing_to(*sent.startup, *received.startup);
  }

  void tell_unframed(Direction& direction, const Event& raw, OctetView octets) {
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
    direction.last_event = story_.size();
  }

  // Octets that never became a frame, where the last of them came. From behind, as each insertion
  // moves what follows it.
  void tell_rests() {
    std::vector<std::pair<std::size_t, Told>> rests;
    for (const auto& [key, direction] : directions_) {
      if (direction.unframed.empty()) continue;
      rests.emplace_back(direction.last_event, told_rest(key.first, direction));
    }
    std::stable_sort(rests.begin(), rests.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [at, told] : rests) {
      told.event.at = story_[at - 1].event.at;
      story_.insert(story_.begin() + static_cast<std::ptrdiff_t>(at), std::move(told));
    }
  }

  Told told_rest(std::size_t connection, const Direction& direction) {
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
  std::vector<Told> story_;
};

}  // namespace

std::vector<Told> story_of(const Transcript& transcript) { return Teller(transcript).tell(); }

}  // namespace iwarp::conform
