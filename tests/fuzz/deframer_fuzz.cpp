#include <vector>

#include "fuzz/input.hpp"
#include "iwarp/mpa/deframer.hpp"
#include "iwarp/mpa/framer.hpp"

// FPDUs of a peer (RFC 5044 §4, §6). Input: an octet of choices (CRC, Markers, damage), one for the
// segmentation, five for the damage; then records that make up the stream. A record is an octet and
// what it asks for: a sound FPDU with octets of the input or with many of one value, or octets as
// they are.
namespace iwarp::mpa {
namespace {

using fuzz::Choices;
using fuzz::Exact;
using fuzz::Input;
using fuzz::require;

using Octets = std::vector<std::byte>;
// Enough for a few of the longest FPDUs.
constexpr std::size_t kMostOctets = 140'000;
// More of them show nothing that these do not.
constexpr int kMostRecords = 12;

struct Traffic {
  Octets stream;
  std::vector<Octets> ulpdus;  // of the FPDUs in front of the first record that is none
  bool sound = true;           // there was no such record
};

void append_fpdu(Traffic& traffic, Framer& framer, const Octets& ulpdu) {
  GatherList list(Framer::arena_needed(ulpdu.size(), ulpdu.size(), framer.markers()),
                  Framer::pieces_needed(1, ulpdu.size(), framer.markers()));
  const std::size_t announced = framer.wire_size(ulpdu.size());
  framer.frame(ulpdu, {}, PayloadUse::kCopy, list);
  require(list.size() == announced, "an FPDU is as long as announced");
  const std::size_t before = traffic.stream.size();
  traffic.stream.resize(before + list.size());
  list.extract(0, MutableBytes(traffic.stream).subspan(before));
  if (traffic.sound) traffic.ulpdus.push_back(ulpdu);
}

// One of sixteen is as long as it can be asked for: those take hundred times as long to look at.
Octets long_ulpdu(Input& input, Markers markers) {
  const std::size_t most = markers == Markers::kOn ? 64768 : kMaxUlpduLength;
  const std::uint16_t asked = input.word16();
  const std::size_t size = asked % 16 == 0 ? std::min<std::size_t>(asked, most) : asked % 2048;
  return Octets(size, std::byte{input.octet()});
}

Traffic make_traffic(Input& input, Crc crc, Markers markers) {
  Traffic traffic;
  Framer framer(crc, markers);
  for (int i = 0; i < kMostRecords && !input.empty() && traffic.stream.size() < kMostOctets; ++i) {
    const std::uint8_t kind = input.octet();
    if (kind % 4 == 3) {
      const ConstBytes raw = input.chunk();
      traffic.stream.insert(traffic.stream.end(), raw.begin(), raw.end());
      traffic.sound = traffic.sound && raw.empty();
    } else if (kind % 4 == 2) {
      append_fpdu(traffic, framer, long_ulpdu(input, markers));
    } else {
      const ConstBytes ulpdu = input.chunk();
      append_fpdu(traffic, framer, {ulpdu.begin(), ulpdu.end()});
    }
  }
  return traffic;
}

void damage(Traffic& traffic, std::uint32_t at, std::uint8_t value) {
  if (traffic.stream.empty() || value == 0) return;
  traffic.stream[at % traffic.stream.size()] ^= std::byte{value};
  traffic.sound = false;
  traffic.ulpdus.clear();
}

struct Outcome {
  std::vector<Octets> ulpdus;
  std::optional<Error> error;
  std::size_t consumed = 0;
};

// Whether `taken` begins with what was sent.
bool begins_with(const std::vector<Octets>& taken, const std::vector<Octets>& sent) {
  return taken.size() >= sent.size() &&
         std::equal(sent.begin(), sent.end(), taken.begin(), fuzz::equal);
}

bool same(const Outcome& a, const Outcome& b) {
  return a.error == b.error && a.consumed == b.consumed && a.ulpdus.size() == b.ulpdus.size() &&
         begins_with(a.ulpdus, b.ulpdus);
}

void check_need(ConstBytes before, MutableBytes after, const NeedMore& need) {
  require(need.wire_size > before.size(), "more octets are asked for than there are");
  require(need.wire_size <= kMaxFpduWireSize, "no more than an FPDU can have");
  require(fuzz::equal(before, after), "an unfinished FPDU is left as it is");
}

void take_fpdu(Outcome& outcome, MutableBytes window, const Fpdu& fpdu) {
  require(fpdu.wire_size <= window.size() && fpdu.wire_size % 4 == 0, "an FPDU has its size");
  const std::byte* end = window.data() + fpdu.wire_size - kCrcSize;
  require(fpdu.ulpdu.data() >= window.data() + kUlpduLengthSize &&
              fpdu.ulpdu.data() + fpdu.ulpdu.size() <= end,
          "a ULPDU lies inside its FPDU");
  outcome.ulpdus.emplace_back(fpdu.ulpdu.begin(), fpdu.ulpdu.end());
  outcome.consumed += fpdu.wire_size;
}

// Takes what is whole out of stream[consumed, end). Returns how far to go on at least. The deframer
// is shown a little of what is there, and then what it asks for with something behind it: all of it
// would be copied for each short FPDU.
std::size_t take_all(Deframer& deframer, ConstBytes stream, std::size_t end, Outcome& outcome) {
  constexpr std::size_t kBehind = 32;
  std::size_t shown = kBehind;
  while (!outcome.error) {
    const ConstBytes there = stream.subspan(outcome.consumed, end - outcome.consumed);
    const ConstBytes before = there.first(std::min(there.size(), shown));
    const Exact window(before);
    const Deframed next = deframer.next(window.bytes());
    if (const auto* need = std::get_if<NeedMore>(&next)) {
      check_need(before, window.bytes(), *need);
      if (need->wire_size > there.size()) return outcome.consumed + need->wire_size;
      shown = need->wire_size + kBehind;
    } else if (const auto* fpdu = std::get_if<Fpdu>(&next)) {
      take_fpdu(outcome, window.bytes(), *fpdu);
      shown = kBehind;
    } else {
      outcome.error = std::get<Error>(next);
      const Deframed again = deframer.next(window.bytes());
      require(std::get_if<Error>(&again) != nullptr && std::get<Error>(again) == *outcome.error,
              "an error stays");
    }
  }
  return stream.size();
}

Outcome deframe_whole(Deframer deframer, ConstBytes stream) {
  Outcome outcome;
  take_all(deframer, stream, stream.size(), outcome);
  return outcome;
}

// In steps of about `step` octets; with 0 of exactly what the deframer asks for.
Outcome deframe_in_steps(Deframer deframer, ConstBytes stream, std::uint8_t step) {
  Outcome outcome;
  std::size_t end = 0;
  std::size_t needed = take_all(deframer, stream, 0, outcome);
  // Not below a part of the stream: each step copies what is there, and looks at all of it.
  const std::size_t least = std::max<std::size_t>(step, stream.size() / 8);
  while (end < stream.size() && !outcome.error) {
    end = std::min(stream.size(), step == 0 ? std::max(needed, end + 1) : end + least);
    needed = take_all(deframer, stream, end, outcome);
  }
  return outcome;
}

void run(Input input) {
  Choices choices(input.octet());
  const Crc crc = choices.next(Crc::kOn, Crc::kOff);
  const Markers markers = choices.next(Markers::kOff, Markers::kOn);
  const bool damaged = choices.next();
  const std::uint8_t step = input.octet();
  const std::uint32_t damaged_at = input.word32();
  const std::uint8_t damaged_by = input.octet();
  Traffic traffic = make_traffic(input, crc, markers);
  if (damaged) damage(traffic, damaged_at, damaged_by);

  const Deframer deframer(crc, markers);
  const Outcome whole = deframe_whole(deframer, traffic.stream);
  require(same(whole, deframe_in_steps(deframer, traffic.stream, step)),
          "FPDUs do not depend on segmentation");
  require(begins_with(whole.ulpdus, traffic.ulpdus), "sound FPDUs are taken");
  if (traffic.sound) {
    require(!whole.error && whole.consumed == traffic.stream.size(), "and nothing else is found");
  }
}

}  // namespace
}  // namespace iwarp::mpa

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  iwarp::mpa::run({data, size});
  return 0;
}
