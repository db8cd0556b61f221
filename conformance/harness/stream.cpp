#include "harness/stream.hpp"

#include <algorithm>

namespace iwarp::conform {
namespace {

bool invalidates(std::uint8_t opcode) {
  const MessageKind* kind = kind_of(opcode);
  return kind != nullptr && kind->invalidates;
}

// What is wrong with the control fields of a segment with an opcode that the case waits for.
std::optional<std::string> control_fault(const Segment& segment) {
  if ((segment.ddp_control & kDdpVersionMask) != kDdpVersion) return "DDP version 1";
  if ((segment.rdmap_control & kRdmapVersionMask) != kRdmapVersion) return "RDMAP version 1";
  if ((segment.ddp_control & kDdpReserved) != 0) return "reserved DDP bits of zero";
  if ((segment.rdmap_control & kRdmapReserved) != 0) return "reserved RDMAP bits of zero";
  if (!segment.tagged() && !invalidates(segment.opcode()) && segment.invalidate_stag != 0) {
    return "an Invalidate STag of zero where it is not used";
  }
  return std::nullopt;
}

std::string control_text(const Segment& segment) {
  return "DDP control " + hex_number(segment.ddp_control, 2) + ", RDMAP control " +
         hex_number(segment.rdmap_control, 2) + ", Invalidate STag " +
         hex_number(segment.invalidate_stag, 8);
}

}  // namespace

std::string describe(const Segment& segment) {
  std::string text(name_of(segment.opcode()));
  if (segment.tagged()) {
    text += " (STag " + hex_number(segment.stag, 8) + ", TO " + hex_number(segment.to, 16);
  } else {
    text += " (QN " + std::to_string(segment.qn) + ", MSN " + std::to_string(segment.msn) +
            ", MO " + std::to_string(segment.mo);
  }
  text += ", " + count_of(segment.payload.size()) + (segment.last() ? ", last)" : ")");
  if (segment.opcode() == kTerminate) {
    if (const auto terminate = parse_terminate(segment.payload)) {
      text += ": " + describe(terminate->cause);
    }
  }
  return text;
}

Stream::Stream(Tcp tcp, bool tester_connected, Transcript& transcript, const Limits& limits)
    : tcp_(std::move(tcp)),
      transcript_(transcript),
      limits_(limits),
      connection_(transcript.add_connection(tcp_.ends(tester_connected))) {}

void Stream::met(std::string text) {
  transcript_.add(
      {.kind = Event::Kind::kExpectation, .connection = connection_, .text = std::move(text)});
}

void Stream::note_sent(OctetView octets, Event::Kind kind) {
  if (kind == Event::Kind::kNote) return;
  transcript_.add(
      {.kind = kind, .connection = connection_, .octets = {octets.begin(), octets.end()}});
}

void Stream::send_octets(OctetView octets, Event::Kind kind) {
  note_sent(octets, kind);
  transcript_.add({.kind = Event::Kind::kRawSent,
                   .connection = connection_,
                   .octets = {octets.begin(), octets.end()}});
  if (!tcp_.send(octets, limits_.timeout)) {
    transcript_.note("the target did not take all of it");
  }
}

void Stream::shut_down_sending() {
  tcp_.shut_down_sending();
  transcript_.add({.kind = Event::Kind::kFinSent, .connection = connection_});
}

void Stream::reset() {
  tcp_.reset();
  transcript_.add({.kind = Event::Kind::kResetSent, .connection = connection_});
}

void Stream::send(const StartupFrame& frame) {
  send_octets(encode(frame), Event::Kind::kStartupSent);
}

void Stream::send_in_pieces(OctetView octets, std::size_t piece, Event::Kind kind) {
  note_sent(octets, kind);
  for (std::size_t at = 0; at < octets.size(); at += piece) {
    send_octets(octets.subspan(at, std::min(piece, octets.size() - at)));
  }
}

std::optional<StartupFrame> Stream::expect_reply_or_end() {
  std::size_t size = 0;
  const auto whole = [&] { return parse_startup_frame(startup_octets_, size).has_value(); };
  read_until(whole, limits_.timeout);
  if (ended_ && startup_octets_.empty()) return std::nullopt;
  return expect_reply();
}

StartupFrame Stream::expect_startup_frame(std::string_view key, std::string_view what) {
  std::size_t size = 0;
  std::optional<StartupFrame> frame;
  const Tcp::Got got = read_until(
      [&] {
        frame = parse_startup_frame(startup_octets_, size);
        return frame.has_value();
      },
      limits_.timeout);
  if (!frame) {
    std::string instead = describe_end(got);
    if (!startup_octets_.empty()) {
      instead =
          count_of(startup_octets_.size()) + " (" + to_hex(startup_octets_) + "), then " + instead;
    }
    throw Failure(std::string(what), instead);
  }
  Octets wire(startup_octets_.begin(), startup_octets_.begin() + static_cast<std::ptrdiff_t>(size));
  startup_octets_.erase(startup_octets_.begin(),
                        startup_octets_.begin() + static_cast<std::ptrdiff_t>(size));
  transcript_.add(
      {.kind = Event::Kind::kStartupReceived, .connection = connection_, .octets = wire});
  if (frame->key != octets(key)) {
    throw Failure(std::string(what) + " with the key \"" + std::string(key) + '"',
                  "the key " + to_hex(frame->key));
  }
  if (*frame->stated_length > kMaxPrivateData) {
    throw Failure("a PD_Length of at most 512", std::to_string(*frame->stated_length));
  }
  return *frame;
}

void Stream::begin_full_operation(Framing sending, Framing receiving) {
  sending_ = sending;
  receiving_ = receiving;
  writer_ = FpduWriter(sending);
  reader_ = FpduReader(receiving);
  full_operation_ = true;
  reader_.add(startup_octets_);
  startup_octets_.clear();
  while (auto fpdu = reader_.next()) fpdus_.push_back(std::move(*fpdu));
}

Octets Stream::frame(const Segment& segment, const FpduFault& fault) {
  const std::uint64_t position = writer_.position();
  Octets wire = writer_.frame(encode(segment), fault);
  transcript_.add({.kind = Event::Kind::kFpduSent,
                   .connection = connection_,
                   .octets = wire,
                   .framing = sending_,
                   .position = position});
  return wire;
}

void Stream::send_fpdu(OctetView ulpdu, const FpduFault& fault) {
  const std::uint64_t position = writer_.position();
  const Octets wire = writer_.frame(ulpdu, fault);
  transcript_.add({.kind = Event::Kind::kFpduSent,
                   .connection = connection_,
                   .octets = wire,
                   .framing = sending_,
                   .position = position});
  send_octets(wire);
}

void Stream::send_together(const std::vector<Segment>& segments) {
  Octets wire;
  for (const Segment& segment : segments) put(wire, frame(segment));
  send_octets(wire);
}

void Stream::send_message(Octets payload, Opcode opcode, std::uint32_t invalidate_stag) {
  Segment segment =
      untagged_segment(opcode, kSendQueue, next_msn(kSendQueue), 0, std::move(payload));
  segment.invalidate_stag = invalidate_stag;
  send(segment);
}

void Stream::send_read_request(const ReadRequest& request) {
  send(untagged_segment(kReadRequest, kReadQueue, next_msn(kReadQueue), 0, encode(request)));
}

void Stream::send_atomic_request(const AtomicRequest& request) {
  send(untagged_segment(kAtomicRequest, kReadQueue, next_msn(kReadQueue), 0, encode(request)));
}

void Stream::write(std::uint32_t stag, std::uint64_t to, Octets payload) {
  send(tagged_segment(kWrite, stag, to, std::move(payload)));
}

Tcp::Got Stream::read_some(milliseconds timeout) {
  if (ended_) return *ended_;
  Octets octets;
  const Tcp::Got got = tcp_.receive(octets, timeout);
  if (got == Tcp::Got::kOctets) {
    (full_operation_ ? reader_.add(octets) : put(startup_octets_, octets));
    transcript_.add(
        {.kind = Event::Kind::kRawReceived, .connection = connection_, .octets = octets});
    if (full_operation_) {
      while (auto fpdu = reader_.next()) fpdus_.push_back(std::move(*fpdu));
    }
  } else if (got != Tcp::Got::kNothing) {
    ended_ = got;
    transcript_.add(
        {.kind = got == Tcp::Got::kFin ? Event::Kind::kFinReceived : Event::Kind::kResetReceived,
         .connection = connection_});
  }
  return got;
}

template <typename Enough>
Tcp::Got Stream::read_until(Enough enough, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    if (enough()) return Tcp::Got::kOctets;
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    const Tcp::Got got = read_some(std::max(left, milliseconds(0)));
    if (got != Tcp::Got::kOctets) return got;
  }
}

std::optional<Fpdu> Stream::next_fpdu() {
  if (fpdus_.empty()) return std::nullopt;
  Fpdu fpdu = std::move(fpdus_.front());
  fpdus_.pop_front();
  transcript_.add({.kind = Event::Kind::kFpduReceived,
                   .connection = connection_,
                   .octets = fpdu.wire,
                   .framing = receiving_,
                   .position = fpdu.position,
                   .faults = fpdu.faults});
  if (!fpdu.faults.empty()) throw Failure("an FPDU as RFC 5044 frames it", fpdu.faults.front());
  return fpdu;
}

std::string Stream::describe_end(Tcp::Got got) const {
  switch (got) {
    case Tcp::Got::kFin: return "the end of the connection (FIN)";
    case Tcp::Got::kReset: return "a reset of the connection";
    default: break;
  }
  const std::size_t pending = reader_.pending();
  return (pending > 0 ? "only " + count_of(pending) + " of an FPDU" : std::string("nothing")) +
         " within " + std::to_string(limits_.timeout.count()) + " ms";
}

Fpdu Stream::expect_fpdu(std::string_view what) {
  const Tcp::Got got = read_until([&] { return !fpdus_.empty(); }, limits_.timeout);
  if (auto fpdu = next_fpdu()) return std::move(*fpdu);
  throw Failure(std::string(what), describe_end(got));
}

Segment Stream::expect_segment(std::string_view what) {
  const Fpdu fpdu = expect_fpdu(what);
  auto segment = parse_segment(fpdu.ulpdu);
  if (!segment) {
    throw Failure(std::string(what),
                  "a ULPDU of " + count_of(fpdu.ulpdu.size()) + ", too short for its header");
  }
  return std::move(*segment);
}

std::optional<Segment> Stream::expect_segment_or_end(std::string_view what) {
  const Tcp::Got got = read_until([&] { return !fpdus_.empty(); }, limits_.timeout);
  if (fpdus_.empty() && got == Tcp::Got::kFin && reader_.pending() > 0) {
    throw Failure("whole FPDUs",
                  count_of(reader_.pending()) + " of one, then " + describe_end(got));
  }
  if (fpdus_.empty() && got != Tcp::Got::kNothing) return std::nullopt;
  return expect_segment(what);
}

Segment Stream::expect_segment_of(Opcode opcode) {
  const std::string what = "a segment of " + std::string(name_of(opcode));
  Segment segment = expect_segment(what);
  if (segment.opcode() != opcode) throw Failure(what, describe(segment));
  if (const auto fault = control_fault(segment)) throw Failure(*fault, control_text(segment));
  return segment;
}

Terminate Stream::expect_terminate(const std::vector<Cause>& causes) {
  std::string what = causes.empty() ? "a Terminate" : "a Terminate: ";
  for (const Cause& cause : causes) {
    what += (&cause == &causes.front() ? "" : ", or ") + describe(cause);
  }
  for (;;) {
    const Segment segment = expect_segment(what);
    if (segment.opcode() != kTerminate) {
      transcript_.note("passed over: " + describe(segment));
      continue;
    }
    const auto terminate = parse_terminate(segment.payload);
    if (segment.tagged() || segment.qn != kTerminateQueue || segment.msn != 1 || segment.mo != 0 ||
        !segment.last()) {
      throw Failure("a Terminate on QN 2 with MSN 1 and MO 0, in one segment", describe(segment));
    }
    if (const auto fault = control_fault(segment)) throw Failure(*fault, control_text(segment));
    if (!terminate) {
      throw Failure("a Terminate as long as its header control bits announce",
                    "only " + count_of(segment.payload.size()) + ": " + to_hex(segment.payload));
    }
    if (!causes.empty() &&
        std::find(causes.begin(), causes.end(), terminate->cause) == causes.end()) {
      throw Failure(what, "a Terminate: " + describe(terminate->cause));
    }
    met("a Terminate: " + describe(terminate->cause));
    return *terminate;
  }
}

Tcp::Got Stream::expect_end(Before also) {
  for (;;) {
    const Tcp::Got got = read_some(limits_.timeout);
    while (auto fpdu = next_fpdu()) {
      const auto segment = parse_segment(fpdu->ulpdu);
      const bool terminate = segment && segment->opcode() == kTerminate;
      if (also == Before::kNothing || (also == Before::kTerminate && !terminate)) {
        throw Failure("the end of the connection",
                      segment ? describe(*segment) : "a ULPDU of " + count_of(fpdu->ulpdu.size()));
      }
    }
    if (!startup_octets_.empty() && also == Before::kNothing) {
      throw Failure("the end of the connection",
                    count_of(startup_octets_.size()) + ": " + to_hex(startup_octets_));
    }
    if (got == Tcp::Got::kOctets) continue;
    if (got == Tcp::Got::kNothing) throw Failure("the end of the connection", describe_end(got));
    met(got == Tcp::Got::kFin ? "the target closed the connection"
                              : "the target reset the connection");
    return got;
  }
}

void Stream::await_end(milliseconds longest) {
  read_until([] { return false; }, longest);
}

void Stream::expect_refusal(const std::vector<Cause>& causes) {
  const Tcp::Got got = read_until([&] { return !fpdus_.empty(); }, limits_.timeout);
  if (got == Tcp::Got::kNothing) throw Failure("the end of the connection", describe_end(got));
  if (got == Tcp::Got::kOctets) expect_terminate(causes);
  expect_end();
}

bool Stream::says_something() {
  const auto something = [&] {
    return !fpdus_.empty() || !startup_octets_.empty() || reader_.pending() > 0;
  };
  return read_until(something, limits_.quiet) != Tcp::Got::kNothing;
}

void Stream::expect_quiet(std::string_view why) {
  if (!says_something()) {
    met("nothing came: " + std::string(why));
    return;
  }
  std::string got = describe_end(ended_.value_or(Tcp::Got::kNothing));
  if (!startup_octets_.empty()) {
    got = count_of(startup_octets_.size()) + ": " + to_hex(startup_octets_);
  }
  if (auto fpdu = next_fpdu()) {
    const auto segment = parse_segment(fpdu->ulpdu);
    got = segment ? describe(*segment) : "an FPDU that holds no DDP Segment";
  }
  throw Failure("nothing (" + std::string(why) + ")", got);
}

}  // namespace iwarp::conform
