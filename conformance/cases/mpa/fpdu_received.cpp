#include <algorithm>

#include "cases/catalogue.hpp"
#include "cases/mpa/support.hpp"

/// FPDUs to the target: lengths, pads, CRCs, and how TCP may cut them (RFC 5044 §4.1, §4.4, §6).
namespace iwarp::conform::mpa_fpdu_received {
namespace {

// --- sound ones ---

// One Write for each length, one behind the other; their FPDUs.
std::vector<Octets> adjoining_writes(Stream& stream, const Region& memory,
                                     const std::vector<std::size_t>& lengths, OctetView content,
                                     const FpduFault& harmless = {}) {
  std::vector<Octets> fpdus;
  std::size_t at = 0;
  for (const std::size_t length : lengths) {
    const OctetView part = content.subspan(at, length);
    fpdus.push_back(stream.frame(
        tagged_segment(kWrite, memory.stag, memory.address + at, {part.begin(), part.end()}),
        harmless));
    at += length;
  }
  return fpdus;
}

std::vector<std::size_t> all_lengths(std::size_t from, std::size_t to) {
  std::vector<std::size_t> lengths;
  for (std::size_t length = from; length <= to; ++length) lengths.push_back(length);
  return lengths;
}

Octets concatenated(const std::vector<Octets>& parts) {
  Octets all;
  for (const Octets& part : parts) put(all, part);
  return all;
}

// How the octets of FPDUs go out.
using Sender = void (*)(Stream& stream, const std::vector<Octets>& fpdus);

struct Delivery {
  std::string_view id, title;
  std::vector<std::size_t> lengths;
  Sender send;
  FpduFault harmless{};
};

void send_each(Stream& stream, const std::vector<Octets>& fpdus) {
  for (const Octets& fpdu : fpdus) stream.send_octets(fpdu);
}

// Each FPDU in two pieces, the first one octet longer than that of the FPDU before.
void send_in_two(Stream& stream, const std::vector<Octets>& fpdus) {
  for (std::size_t i = 0; i < fpdus.size(); ++i) {
    const OctetView fpdu = fpdus[i];
    const std::size_t cut = 1 + i % (fpdu.size() - 1);
    stream.send_octets(fpdu.first(cut));
    stream.send_octets(fpdu.subspan(cut));
  }
}

template <std::size_t kPiece>
void send_in_pieces_of(Stream& stream, const std::vector<Octets>& fpdus) {
  stream.send_in_pieces(concatenated(fpdus), kPiece);
}

// The greatest ULPDU that DDP may post (RFC 5044 §3), as payload of a Write.
constexpr std::size_t kLargestUlpdu = 64768;
constexpr std::size_t kLargestPayload = kLargestUlpdu - kTaggedHeaderSize;

void delivers(Context& context, const Delivery& row) {
  std::size_t size = 0;
  for (const std::size_t length : row.lengths) size += length;
  const Octets content = pattern(size);
  auto [memory, link] = writable_link(context, size + 1);
  row.send(link.stream, adjoining_writes(link.stream, memory, row.lengths, content, row.harmless));
  expect_all_placed(context, link);
  context.expect_memory(memory, 0, content);
  context.expect_equal(context.agent().fetch(memory, size, 1), Octets(1),
                       "nothing was placed behind");
}

const Cases kDeliveries =
    cases_of<Delivery>(Needs::kAgent, delivers,
                       {{"mpa.fpdu.every-length", "ULPDUs of every length, with every pad, arrive",
                         all_lengths(0, 260), send_each},
                        {"mpa.fpdu.large",
                         "ULPDUs larger than an Ethernet frame arrive",
                         {1434, 1435, 4000, 8950, 30001},
                         send_each},
                        {"mpa.fpdu.largest",
                         "A ULPDU of 64768 octets, the most that DDP may post, arrives",
                         {kLargestPayload},
                         send_each},
                        {"mpa.fpdu.pad-ignored",
                         "The value of the pad does not matter",
                         all_lengths(1, 32),
                         send_each,
                         {.pad_value = 0xFF}},
                        {"mpa.fpdu.cut-anywhere", "An FPDU may be cut at any octet by TCP",
                         std::vector<std::size_t>(70, 45), send_in_two},
                        {"mpa.fpdu.octet-by-octet",
                         "FPDUs may come octet by octet",
                         {0, 1, 2, 3, 4, 5, 40},
                         send_in_pieces_of<1>},
                        {"mpa.fpdu.many-in-a-segment", "Many FPDUs may share a TCP segment",
                         all_lengths(0, 200), send_in_pieces_of<60000>},
                        {"mpa.fpdu.not-aligned", "TCP segments need not begin with an FPDU",
                         all_lengths(0, 250), send_in_pieces_of<301>}});

// --- wrong CRCs ---

constexpr std::size_t kPayload = 41;  // makes a pad of 3 octets
constexpr std::size_t kUlpdu = kTaggedHeaderSize + kPayload, kPadAt = 2 + kUlpdu;
constexpr std::size_t kCrcAt = kPadAt + 3, kFpdu = kCrcAt + 4;

struct BadCrc {
  std::string_view id, title;
  void (*spoil)(Octets& fpdu);
};

// One bit wrong on its way. That of ULPDU_Length makes it shorter, so that there is an end to see.
// The FPDU behind the bad one is sound, and not passed on.
void finds_bad_crc(Context& context, const BadCrc& row) {
  auto [memory, link] = writable_link(context, 2 * kPayload);
  Octets both =
      link.stream.frame(tagged_segment(kWrite, memory.stag, memory.address, pattern(kPayload)));
  row.spoil(both);
  put(both, link.stream.frame(
                tagged_segment(kWrite, memory.stag, memory.address + kPayload, pattern(kPayload))));
  link.stream.send_octets(both);
  link.stream.expect_refusal({kCrcError});
  context.expect_untouched(memory);
}

const Cases kBadCrcs = cases_of<BadCrc>(
    Needs::kAgent, finds_bad_crc,
    {{"mpa.fpdu.bit-in-length", "A bit wrong in ULPDU_Length is found by the CRC",
      [](Octets& fpdu) { fpdu[1] ^= 0x04; }},
     {"mpa.fpdu.bit-in-control", "A bit wrong in the DDP control field is found by the CRC",
      [](Octets& fpdu) { fpdu[2] ^= kLast; }},
     {"mpa.fpdu.bit-in-offset", "A bit wrong in the Tagged Offset is found by the CRC",
      [](Octets& fpdu) { fpdu[15] ^= 0x08; }},
     {"mpa.fpdu.bit-in-first-octet",
      "A bit wrong in the first octet of payload is found by the CRC",
      [](Octets& fpdu) { fpdu[2 + kTaggedHeaderSize] ^= 0x80; }},
     {"mpa.fpdu.bit-in-last-octet", "A bit wrong in the last octet of payload is found by the CRC",
      [](Octets& fpdu) { fpdu[kPadAt - 1] ^= 0x01; }},
     {"mpa.fpdu.bit-in-pad", "A bit wrong in the pad is found by the CRC",
      [](Octets& fpdu) { fpdu[kPadAt + 2] ^= 0x10; }},
     {"mpa.fpdu.bit-in-crc", "A bit wrong in the first octet of the CRC is found",
      [](Octets& fpdu) { fpdu[kCrcAt] ^= 0x01; }},
     {"mpa.fpdu.bit-in-crc-end", "A bit wrong in the last octet of the CRC is found",
      [](Octets& fpdu) { fpdu[kFpdu - 1] ^= 0x80; }},
     {"mpa.fpdu.crc-reversed", "A CRC with its most significant octet first is wrong",
      [](Octets& fpdu) { std::reverse(fpdu.end() - 4, fpdu.end()); }},
     {"mpa.fpdu.crc-not-inverted", "A CRC that is not inverted at the end is wrong",
      [](Octets& fpdu) {
        for (std::size_t i = kCrcAt; i < kFpdu; ++i) fpdu[i] ^= 0xFF;
      }},
     {"mpa.fpdu.crc-zero", "A CRC field of zeros is wrong where CRCs are in use",
      [](Octets& fpdu) { std::fill(fpdu.end() - 4, fpdu.end(), std::uint8_t{0}); }}});

void says_crc_error(Context& context) {
  Link link = context.link();
  link.stream.write(0, 0, {});
  link.stream.send(tagged_segment(kWrite, 0, 0, {}), {.crc_xor = 1});
  link.stream.expect_terminate(kCrcError);
  link.stream.expect_end();
  expect_service(context);
}

// Before it has an FPDU that is valid, a responder may send none, not even a Terminate.
void stays_silent(Context& context) {
  Link link = context.link();
  link.stream.send(tagged_segment(kWrite, 0, 0, {}), {.crc_xor = 1});
  link.stream.expect_end();
  expect_service(context);
}

const Cases kCrcErrors{
    {"mpa.fpdu.crc-terminate", "A CRC error is answered by a Terminate of MPA, code 2",
     Needs::kListener, says_crc_error},
    {"mpa.fpdu.crc-error-first", "A responder sends nothing if the very first FPDU is bad",
     Needs::kListener, stays_silent},
};

// --- what holds no segment ---

struct Short {
  std::string_view id, title;
  std::size_t octets;
  bool tagged;
};

constexpr std::uint64_t kReceive = 1;

Octets first_of(const Octets& octets, std::size_t size) {
  return {octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(size)};
}

// No receive is completed by what was no message.
void expect_none_delivered(Context& context, Link& link) {
  const auto completion = link.agent_end().completion(context.limits().quiet);
  context.expect(!completion || completion->status != "success", "no message delivered", "one");
}

void refuses_short(Context& context, const Short& row) {
  auto [memory, link] = writable_link(context, 64);
  link.agent_end().receive(kReceive, memory, 0, memory.size);
  const Segment segment = row.tagged ? tagged_segment(kWrite, memory.stag, memory.address, {})
                                     : untagged_segment(kSend, kSendQueue, 1, 0, {});
  link.stream.send_fpdu(first_of(encode(segment), row.octets));
  link.stream.expect_end(Stream::Before::kTerminate);
  context.expect_untouched(memory);
  expect_none_delivered(context, link);
  expect_service(context);
}

const Cases kShort = cases_of<Short>(
    Needs::kAgent, refuses_short,
    {{"mpa.fpdu.ulpdu-of-1", "A ULPDU of one octet ends the connection", 1, false},
     {"mpa.fpdu.ulpdu-of-2", "A ULPDU of the control fields alone ends the connection", 2, true},
     {"mpa.fpdu.tagged-header-cut", "A ULPDU one octet shorter than a Tagged header ends it",
      kTaggedHeaderSize - 1, true},
     {"mpa.fpdu.untagged-header-cut", "A ULPDU one octet shorter than an Untagged header ends it",
      kUntaggedHeaderSize - 1, false}});

// No RFC says what an empty ULPDU means. It is no message in any case.
void survives_an_empty_ulpdu(Context& context) {
  auto [memory, link] = writable_link(context, 64);
  link.agent_end().receive(kReceive, memory, 0, memory.size);
  link.stream.send_fpdu({});
  if (link.stream.says_something()) link.stream.expect_end(Stream::Before::kTerminate);
  context.expect_untouched(memory);
  expect_none_delivered(context, link);
  expect_service(context);
}

const Cases kEmpty{
    {"mpa.fpdu.ulpdu-of-0", "An FPDU with an empty ULPDU is no message", Needs::kAgent,
     survives_an_empty_ulpdu},
};

// --- the end of the connection inside ---

struct Cut {
  std::string_view id, title;
  std::size_t octets;
};

void places_no_half(Context& context, const Cut& row) {
  auto [memory, link] = writable_link(context, kPayload);
  const Octets fpdu =
      link.stream.frame(tagged_segment(kWrite, memory.stag, memory.address, pattern(kPayload)));
  link.stream.send_octets(OctetView(fpdu).first(row.octets));
  link.stream.shut_down_sending();
  link.stream.expect_end(Stream::Before::kTerminate);
  context.expect_untouched(memory);
  const Answer event =
      context.expect_event(link.agent_end(), {"established", "disconnected", "failed"});
  if (event.text("event") == "established") {
    context.expect_event(link.agent_end(), {"disconnected", "failed"});
  }
}

const Cases kCuts = cases_of<Cut>(
    Needs::kAgent, places_no_half,
    {{"mpa.fpdu.fin-in-length", "A connection that ends within ULPDU_Length places nothing", 1},
     {"mpa.fpdu.fin-in-header", "A connection that ends within a DDP header places nothing", 9},
     {"mpa.fpdu.fin-in-payload", "An FPDU whose payload is cut by FIN is not placed", 30},
     {"mpa.fpdu.fin-in-crc", "An FPDU whose CRC is cut by FIN is not placed", kFpdu - 1}});

}  // namespace

Cases cases() { return joined({kCrcErrors, kEmpty, kDeliveries, kBadCrcs, kShort, kCuts}); }

}  // namespace iwarp::conform::mpa_fpdu_received
