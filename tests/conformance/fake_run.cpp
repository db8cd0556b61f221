#include "conformance/fake_run.hpp"

#include <deque>

#include "wire/rdmap.hpp"

namespace iwarp::conform::test {
namespace {

using Kind = Event::Kind;

StartupFrame startup(std::string_view key, bool markers) {
  StartupFrame frame;
  frame.key = octets(key);
  frame.flags = static_cast<std::uint8_t>(kFlagCrc | kFlagEnhanced | (markers ? kFlagMarkers : 0));
  frame.enhanced = EnhancedData{.ird = 16, .ord = 16};
  return frame;
}

Segment terminate_segment() {
  Terminate terminate;
  terminate.cause = {kLayerDdp, 1, 0x01};
  terminate.has_length = terminate.has_ddp_header = true;
  terminate.segment_length = 46;
  terminate.ddp_header = encode(tagged_segment(kWrite, 0x1100, 0x2000, {}));
  return untagged_segment(kTerminate, kTerminateQueue, 1, 0, encode(terminate));
}

Result passing_case() {
  FakeCase fake("rdmap.send.delivered", "A Send fills the first posted receive and completes it");
  fake.say(Kind::kAgentCommand, "reset").say(Kind::kAgentReply, "ok");
  fake.say(Kind::kAgentCommand, "region size=256 access=local_write fill=00");
  fake.say(Kind::kAgentReply, "ok region=1 stag=0x00001100 address=0x0000000000002000");
  fake.connect().send(untagged_segment(kSend, 0, 1, 0, pattern(60)));
  fake.say(Kind::kAgentCommand, "completion endpoint=1 ms=3000");
  fake.say(Kind::kAgentReply, "ok id=1 status=success op=receive length=60");
  fake.say(Kind::kExpectation, "completion 1 with status success");
  return fake.pass();
}

Result failing_case() {
  FakeCase fake("ddp.tagged.bounds",
                "A Write past the end of the region is answered with a Terminate");
  fake.say(Kind::kAgentCommand, "region size=256 access=local_write,remote_write fill=00");
  fake.say(Kind::kAgentReply, "ok region=1 stag=0x00001100 address=0x0000000000002000");
  fake.connect(true).send(tagged_segment(kWrite, 0x1100, 0x20FF, pattern(900)));
  fake.receive(terminate_segment(), {.crc_xor = 0x100});
  fake.event({.kind = Kind::kFinReceived});
  return fake.fail("an FPDU as RFC 5044 frames it", "the CRC is 0x12345678, computed 0x12345778");
}

Result unseen_case() {
  FakeCase fake("rdmap.read.no-rights", "A Read without REMOTE_READ is refused");
  fake.connect();
  fake.send(untagged_segment(kReadRequest, 1, 1, 0,
                             encode(ReadRequest{.sink_stag = 1, .size = 64, .source_stag = 2})));
  const Octets response = fake.received_frame(tagged_segment(kReadResponse, 1, 0, pattern(64)));
  fake.receive_unseen(response);
  fake.receive_unseen(OctetView(response).first(9));
  return fake.fail("a Terminate: RDMAP / Remote Protection Error / Access rights violation",
                   "Read Response (STag 0x00000001, 64 octets, last)");
}

// Over IPv6, more than the page shows of a frame and than one TCP segment holds.
Result large_case() {
  FakeCase fake("rdmap.write.large", "A Write of one large segment is placed");
  fake.be_connected().send(tagged_segment(kWrite, 0x1100, 0, pattern(60000)));
  fake.event({.kind = Kind::kFinSent}).event({.kind = Kind::kFinReceived});
  return fake.pass();
}

Result hostile_case() {
  const std::string markup(kMarkup);
  FakeCase fake("mpa.startup.hostile", "A target that says " + markup);
  fake.connect();
  fake.say(Kind::kNote, markup).say(Kind::kAgentReply, "error EIO " + markup + "\xFF\xC0");
  fake.receive(untagged_segment(kSend, 0, 1, 0, octets(markup)));
  Result result = fake.fail(markup, markup + "\xE2\x80\xAE");
  result.test.title = lasting("A target that says " + markup);
  return result;
}

std::vector<Requirement> fake_requirements() {
  return {
      {.id = "5044-4.4-01",
       .level = "MUST",
       .text = "a CRC that is wrong is found",
       .kind = "wire",
       .cases = {"ddp.tagged.bounds", "rdmap.send.delivered"},
       .tests = {},
       .note = ""},
      {.id = "5040-5.3-02",
       .level = "SHOULD",
       .text = "a Send is delivered",
       .kind = "wire",
       .cases = {"rdmap.send.delivered"},
       .tests = {},
       .note = ""},
      {.id = "5040-5.5-01",
       .level = "MUST",
       .text = "rights are checked",
       .kind = "wire",
       .cases = {"rdmap.read.no-rights", "rdmap.not.there"},
       .tests = {},
       .note = ""},
      {.id = "5041-3-01",
       .level = "MUST",
       .text = "what nobody ran",
       .kind = "wire",
       .cases = {"ddp.not.there"},
       .tests = {},
       .note = ""},
      {.id = "5041-3-02",
       .level = "MAY",
       .text = "seen from inside only",
       .kind = "unit",
       .cases = {},
       .tests = {"Suite.Test"},
       .note = std::string(kMarkup)},
      {.id = "5042-6-01",
       .level = "MUST",
       .text = "binds the program above",
       .kind = "ulp",
       .cases = {},
       .tests = {},
       .note = "the ULP chooses"},
      {.id = "6581-9-01",
       .level = "SHOULD",
       .text = "is not done",
       .kind = "not met",
       .cases = {},
       .tests = {},
       .note = "nobody asked"},
  };
}

}  // namespace

std::string_view lasting(std::string text) {
  static std::deque<std::string> all;
  return all.emplace_back(std::move(text));
}

FakeCase::FakeCase(const std::string& id, const std::string& title) {
  result_.test.id = lasting(id);
  result_.test.title = lasting(title);
  result_.test.needs = Needs::kAgent;
}

FakeCase& FakeCase::event(Event event) {
  event.connection = connection_;
  result_.transcript.add(std::move(event));
  return *this;
}

FakeCase& FakeCase::say(Kind kind, std::string text) {
  return event({.kind = kind, .text = std::move(text)});
}

FakeCase& FakeCase::connect(bool markers) {
  start_up({.tester_address = "192.0.2.1",
            .target_address = "192.0.2.7",
            .tester_port = 40000,
            .target_port = 7471},
           markers);
  return *this;
}

FakeCase& FakeCase::be_connected() {
  start_up({.tester_address = "2001:db8::1",
            .target_address = "2001:db8::7",
            .tester_port = 7471,
            .target_port = 40001,
            .tester_connected = false},
           false);
  return *this;
}

void FakeCase::start_up(const ConnectionEnds& ends, bool markers) {
  connection_ = result_.transcript.add_connection(ends);
  const Octets request = encode(startup(kRequestKey, markers));
  const Octets reply = encode(startup(kReplyKey, markers));
  if (ends.tester_connected) {
    event({.kind = Kind::kStartupSent, .octets = request});
    event({.kind = Kind::kRawSent, .octets = request});
  }
  const Octets& received = ends.tester_connected ? reply : request;
  event({.kind = Kind::kRawReceived, .octets = received});
  event({.kind = Kind::kStartupReceived, .octets = received});
  if (!ends.tester_connected) {
    event({.kind = Kind::kStartupSent, .octets = reply});
    event({.kind = Kind::kRawSent, .octets = reply});
  }
  framing_ = {.crc = true, .markers = markers};
  sent_ = received_ = FpduWriter(framing_);
}

FakeCase& FakeCase::send(const Segment& segment, const FpduFault& fault) {
  const std::uint64_t position = sent_.position();
  const Octets wire = sent_.frame(encode(segment), fault);
  event({.kind = Kind::kFpduSent, .octets = wire, .framing = framing_, .position = position});
  return event({.kind = Kind::kRawSent, .octets = wire});
}

FakeCase& FakeCase::receive(const Segment& segment, const FpduFault& fault) {
  const std::uint64_t position = received_.position();
  const Octets wire = received_.frame(encode(segment), fault);
  FpduReader reader(framing_, position);
  reader.add(wire);
  const auto fpdu = reader.next();
  event({.kind = Kind::kRawReceived, .octets = wire});
  return event({.kind = Kind::kFpduReceived,
                .octets = wire,
                .framing = framing_,
                .position = position,
                .faults = fpdu ? fpdu->faults : std::vector<std::string>{}});
}

FakeCase& FakeCase::receive_unseen(OctetView octets) {
  return event({.kind = Kind::kRawReceived, .octets = {octets.begin(), octets.end()}});
}

Octets FakeCase::received_frame(const Segment& segment, const FpduFault& fault) {
  return received_.frame(encode(segment), fault);
}

Result FakeCase::fail(const std::string& expected, const std::string& got) {
  result_.expected = expected;
  result_.got = got;
  return conclude(Verdict::kFail, "expected " + expected + "; got " + got);
}

Result FakeCase::conclude(Verdict verdict, const std::string& text) {
  result_.verdict = verdict;
  result_.text = text;
  result_.duration = std::chrono::milliseconds(12);
  if (verdict != Verdict::kPass) say(Kind::kFailure, text);
  return std::move(result_);
}

Report fake_report() {
  Report report{.version = "1.2.3", .target = "the peer at 192.0.2.7:7471"};
  report.started = std::chrono::system_clock::from_time_t(1770000000);
  report.options = {{"revision", "2"}, {"markers", "no"}};
  report.results.push_back(passing_case());
  report.results.push_back(failing_case());
  report.results.push_back(unseen_case());
  report.results.push_back(hostile_case());
  report.results.push_back(large_case());
  report.results.push_back(
      FakeCase("rdmap.atomic.add").conclude(Verdict::kSkip, "the target's agent has no atomic"));
  report.results.push_back(FakeCase("rdmap.terminate.code")
                               .connect()
                               .conclude(Verdict::kDeparture, "sends another code"));
  report.results.push_back(FakeCase("mpa.crc.wrong")
                               .connect()
                               .conclude(Verdict::kError, "cannot connect to the target"));
  report.requirements = fake_requirements();
  return report;
}

Report large_report(std::size_t cases, std::size_t events) {
  Report report{.version = "1.2.3", .target = "a large run"};
  report.started = std::chrono::system_clock::from_time_t(1770000000);
  constexpr const char* kGroups[] = {"mpa.startup", "mpa.crc", "ddp.tagged", "ddp.untagged",
                                     "rdmap.read"};
  for (std::size_t i = 0; i < cases; ++i) {
    const std::string group = kGroups[i * std::size(kGroups) / cases];
    FakeCase fake(group + ".case-" + std::to_string(i),
                  "The target does thing " + std::to_string(i));
    fake.connect(i % 3 == 0);
    // Connecting makes 5 events, sending and receiving 2 each.
    for (std::size_t k = 5; k + 5 <= events; k += 4) {
      const auto n = static_cast<std::uint32_t>(i * events + k);
      const Octets payload = pattern(24 + n % 50, static_cast<std::uint8_t>(n));
      fake.send(untagged_segment(kSend, 0, n, 0, payload));
      fake.receive(tagged_segment(kWrite, n, n, payload));
    }
    report.results.push_back(
        i % 41 == 7 ? fake.fail("a Terminate: DDP / Tagged Buffer Error / Base or bounds violation",
                                "nothing within 3000 ms")
        : i % 29 == 3  ? fake.conclude(Verdict::kSkip, "the target's agent has no atomic")
        : i % 97 == 11 ? fake.conclude(Verdict::kError, "the agent is lost: no answer")
        : i % 71 == 9
            ? fake.conclude(Verdict::kDeparture, "answers with another code (5041-7.1-03)")
            : fake.pass());
  }
  constexpr const char* kRfcs[] = {"5040", "5041", "5042", "5044", "6581", "7306"};
  constexpr const char* kKinds[] = {"wire", "wire", "unit", "wire", "n/a", "wire", "ulp", "wire"};
  for (std::size_t i = 0; i < 2 * cases; ++i) {
    Requirement one{.id = kRfcs[i * 6 / (2 * cases)],
                    .level = i % 5 == 1   ? "SHOULD"
                             : i % 7 == 3 ? "MAY"
                                          : "MUST",
                    .text = "what a stack has to do in situation " + std::to_string(i),
                    .kind = kKinds[i % std::size(kKinds)],
                    .cases = {},
                    .tests = {},
                    .note = ""};
    one.id +=
        "-" + std::to_string(3 + i % 7) + "." + std::to_string(1 + i % 4) + "-" + std::to_string(i);
    if (one.kind == "wire") {
      one.cases.emplace_back(report.results[i / 2].test.id);
      one.cases.emplace_back(report.results[i * 7 % cases].test.id);
    } else if (one.kind == "unit") {
      one.tests = {"Suite.TestNumber" + std::to_string(i)};
    } else {
      one.note = "the reason why";
    }
    report.requirements.push_back(std::move(one));
  }
  return report;
}

}  // namespace iwarp::conform::test
