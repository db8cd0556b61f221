#include <chrono>
#include <optional>
#include <vector>

#include "connection/peer.hpp"
#include "fuzz/input.hpp"
#include "iwarp/mpa/framer.hpp"
#include "support/segments.hpp"

// Octets of a peer's TCP stream, from FPDU to memory (RFC 5044 §6, RFC 5041 §7.1, RFC 5040 §7.2):
// whatever pieces they come in, what they bring about is the same. Input: an octet of choices (CRC,
// Markers, waiting for receives), one for the receives that are posted, one for the pieces; then
// records that make up the stream. A record is an octet and what it asks for: a sound message of a
// kind, a ULPDU as it is, or octets as they are.
namespace iwarp::fuzz {
namespace {

using namespace std::chrono_literals;
using connection::InboundStop;
using ddp::Rights;
using rdmap::Opcode;
using test::Octets;

constexpr std::size_t kSize = 4096;
constexpr int kMostRecords = 40;

// What both receivers of a stream are made with.
struct Setting {
  connection::Terms terms;
  unsigned receives = 0;  // posted at the beginning
  unsigned later = 0;     // posted one by one, each when a message waits for it
};

class Receiver {
 public:
  explicit Receiver(const Setting& setting)
      : exposed_(endpoint_.enable(kSize, Rights::kRemoteWrite | Rights::kRemoteRead)),
        inbox_(endpoint_.enable(kSize, Rights::kLocalWrite)),
        later_(setting.later),
        peer_(endpoint_, setting.terms) {
    for (unsigned i = 0; i < setting.receives; ++i) post();
  }

  void take(ConstBytes octets) {
    InboundStop why = peer_.receive(octets);
    note();
    while (why == InboundStop::kAwaitsReceive) {
      if (later_ != 0) {
        --later_;
        post();
      } else {
        peer_.limits.now += 2s;
      }
      why = peer_.resume();
      note();
    }
    require(endpoint_.canaries_intact(), "nothing is written beside a buffer");
  }

  // Whether this one has come to the same as `other`, which got the same octets.
  [[nodiscard]] bool same_as(const Receiver& other) const {
    const auto& mine = peer_.core.inbound();
    const auto& its = other.peer_.core.inbound();
    return equal(exposed_.memory.bytes(), other.exposed_.memory.bytes()) &&
           equal(inbox_.memory.bytes(), other.inbox_.memory.bytes()) && cause_ == other.cause_ &&
           terminated_ == other.terminated_ && asked_ == other.asked_ &&
           peer_.deliveries.size() == other.peer_.deliveries.size() &&
           mine.ended() == its.ended() && mine.kept() == its.kept() &&
           mine.counters().octets == its.counters().octets &&
           mine.counters().fpdus == its.counters().fpdus && same_deliveries(other);
  }

  [[nodiscard]] const test::Region& exposed() const { return exposed_; }

 private:
  void post() {
    const auto n = static_cast<std::uint32_t>(endpoint_.receives.posted());
    endpoint_.receives.post(
        n, {inbox_.sge(n * 64U % kSize, 40), inbox_.sge(n * 64U % kSize + 40, 24)});
  }
  void note() {
    const auto& events = peer_.events;
    if (events.fault) {
      require(!cause_ && !terminated_, "a connection ends once");
      cause_ = events.fault->terminate.cause;
    }
    if (events.terminate) {
      require(!cause_ && !terminated_, "a connection ends once");
      terminated_ = true;
    }
    asked_ = asked_ || events.for_outbound;
  }
  [[nodiscard]] bool same_deliveries(const Receiver& other) const {
    return std::equal(peer_.deliveries.begin(), peer_.deliveries.end(),
                      other.peer_.deliveries.begin(), [](const auto& a, const auto& b) {
                        return a.cookie == b.cookie && a.length == b.length &&
                               a.solicited == b.solicited && a.invalidated == b.invalidated &&
                               a.immediate == b.immediate;
                      });
  }

  test::Endpoint endpoint_;
  test::Region& exposed_;
  test::Region& inbox_;
  unsigned later_;
  test::Peer peer_;
  std::optional<rdmap::Cause> cause_;
  bool terminated_ = false;
  bool asked_ = false;
};

// The stream of a peer.
class Stream {
 public:
  Stream(const connection::Terms& terms, const test::Region& exposed)
      : framer_(terms.modes.crc, terms.modes.markers_rx), exposed_(exposed) {}

  void append(Input& input) {
    const std::uint8_t kind = input.octet();
    switch (kind % 8) {
      case 0:
      case 1: return frame(message(input, Opcode::kSend, sends_));
      case 2: return frame(message(input, Opcode::kSendSolicited, sends_));
      case 3: return frame(write(input));
      case 4: return frame(read_request(input));
      case 5: return frame(message(input, Opcode::kImmediate, sends_));
      case 6: {
        const ConstBytes raw = input.chunk();
        return frame({raw.begin(), raw.end()});
      }
      default: {
        const ConstBytes raw = input.chunk();
        octets.insert(octets.end(), raw.begin(), raw.end());
      }
    }
  }

  Octets octets;

 private:
  void frame(const test::Ulpdu& ulpdu) {
    GatherList list(mpa::Framer::arena_needed(ulpdu.size(), ulpdu.size(), framer_.markers()),
                    mpa::Framer::pieces_needed(1, ulpdu.size(), framer_.markers()));
    framer_.frame(ulpdu, {}, mpa::PayloadUse::kCopy, list);
    const Octets fpdu = test::octets_of(list.pieces());
    octets.insert(octets.end(), fpdu.begin(), fpdu.end());
  }
  // In one segment, or the first or a later one of several.
  test::Ulpdu message(Input& input, Opcode opcode, std::uint32_t& msn) {
    const bool last = input.octet() % 4 != 0;
    const ConstBytes payload = input.chunk();
    const auto header =
        test::untagged(opcode, msn, offset_, last ? ddp::Last::kYes : ddp::Last::kNo);
    offset_ = last ? 0 : offset_ + static_cast<std::uint32_t>(payload.size());
    msn += last ? 1U : 0U;
    return test::segment(header, payload);
  }
  test::Ulpdu write(Input& input) {
    const std::uint16_t at = input.word16();
    return test::segment(test::tagged(Opcode::kWrite, exposed_.stag, exposed_.to(at % (kSize + 8))),
                         input.chunk());
  }
  test::Ulpdu read_request(Input& input) {
    const std::uint16_t at = input.word16();
    const rdmap::ReadRequest request{Stag{input.word32()}, TaggedOffset{0}, input.octet(),
                                     exposed_.stag, exposed_.to(at % (kSize + 8))};
    return test::segment(test::untagged(Opcode::kReadRequest, reads_++), test::encoded(request));
  }

  mpa::Framer framer_;
  const test::Region& exposed_;
  std::uint32_t sends_ = 1, reads_ = 1, offset_ = 0;
};

void run(Input input) {
  Choices choices(input.octet());
  Setting setting;
  setting.terms = test::usual_terms();
  setting.terms.modes.crc = choices.next(mpa::Crc::kOn, mpa::Crc::kOff);
  setting.terms.modes.markers_rx = choices.next(mpa::Markers::kOff, mpa::Markers::kOn);
  if (choices.next()) setting.terms.receive_wait = 1s;
  const std::uint8_t receives = input.octet();
  setting.receives = receives % 16U;
  setting.later = receives / 16U;
  const std::uint8_t pieces = input.octet();

  Receiver at_once(setting);
  Receiver in_pieces(setting);
  Stream stream(setting.terms, at_once.exposed());
  for (int i = 0; i < kMostRecords && !input.empty(); ++i) stream.append(input);
  at_once.take(stream.octets);
  for (ConstBytes left = stream.octets; !left.empty();) {
    const std::size_t size =
        std::min<std::size_t>(1U + pieces % 64U * (left.size() % 7U), left.size());
    in_pieces.take(left.first(size));
    left = left.subspan(size);
  }
  require(at_once.same_as(in_pieces), "pieces make no difference");
}

}  // namespace
}  // namespace iwarp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  iwarp::fuzz::run({data, size});
  return 0;
}
