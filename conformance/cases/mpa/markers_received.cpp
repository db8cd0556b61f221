#include "cases/catalogue.hpp"
#include "cases/mpa/support.hpp"

/// Markers in what a target gets that has asked for them (RFC 5044 §4.2, §4.3, §8).
namespace iwarp::conform::mpa_markers_received {
namespace {

// A target that wants Markers. The tester has sent an FPDU of 24 octets: the Marker in front, and
// an empty Write.
WritableLink marked_link(Context& context, std::size_t size) {
  context.need("mpa");
  context.need("markers");
  WritableLink marked =
      writable_link(context, size, {.request = context.request(), .listen = "markers=1"});
  context.expect(marked.link.reply.markers(), "M in the Reply, as the target wishes", "none");
  return marked;
}
constexpr std::size_t kFirstFpdu = 24;

Segment write_of(const Region& memory, std::size_t offset, Octets payload) {
  return tagged_segment(kWrite, memory.stag, memory.address + offset, std::move(payload));
}

// --- sound ones ---

struct Taken {
  std::string_view id, title;
  std::size_t writes, payload;
  std::size_t piece;  ///< In which the octets go out.
  FpduFault harmless{};
};

// FPDUs of 60 octets come to begin at each word of the 512.
void takes(Context& context, const Taken& row) {
  const Octets content = pattern(row.writes * row.payload);
  auto [memory, link] = marked_link(context, content.size());
  Octets all;
  for (std::size_t at = 0; at < content.size(); at += row.payload) {
    const OctetView part = OctetView(content).subspan(at, row.payload);
    put(all, link.stream.frame(write_of(memory, at, {part.begin(), part.end()}), row.harmless));
  }
  link.stream.send_in_pieces(all, row.piece);
  expect_all_placed(context, link);
  context.expect_memory(memory, 0, content);
}

const Cases kTaken = cases_of<Taken>(
    Needs::kAgent, takes,
    {{"mpa.markers.taken-anywhere", "A Marker is taken out wherever in an FPDU it stands", 300, 40,
      60000},
     {"mpa.markers.taken-from-large", "All Markers of a large FPDU are taken out", 3, 30001, 60000},
     {"mpa.markers.taken-split", "A Marker may be cut by TCP at any octet", 20, 100, 1},
     {"mpa.markers.taken-unaligned", "Markers do not depend on TCP segments", 60, 700, 509},
     {"mpa.markers.reserved-ignored",
      "The reserved field of a Marker is ignored",
      30,
      100,
      60000,
      {.marker_reserved = 0xFFFF}},
     {"mpa.markers.low-bits-ignored",
      "The two low bits of FPDUPTR count as zero",
      30,
      100,
      60000,
      {.marker_low_bits = 3}}});

// --- wrong ones ---

constexpr std::size_t kPayload = 600;
// Where the Marker in the second FPDU stands, from its ULPDU_Length.
constexpr std::uint16_t kDistance = kMarkerPeriod - kFirstFpdu;

struct Wrong {
  std::string_view id, title;
  FpduFault fault;
};

// The CRC suits what is sent: the Marker itself is wrong.
void refuses(Context& context, const Wrong& row) {
  auto [memory, link] = marked_link(context, kPayload);
  link.stream.send(write_of(memory, 0, pattern(kPayload)), row.fault);
  link.stream.expect_refusal({kMarkerError});
  context.expect_untouched(memory);
  expect_service(context);
}

const Cases kWrong = cases_of<Wrong>(
    Needs::kAgent, refuses,
    {{"mpa.markers.pointer-too-far",
      "An FPDUPTR that points in front of the FPDU is an error",
      {.fpduptr = kDistance + 4}},
     {"mpa.markers.pointer-too-near",
      "An FPDUPTR that points behind ULPDU_Length is an error",
      {.fpduptr = kDistance - 4}},
     {"mpa.markers.pointer-zero", "An FPDUPTR of zero inside an FPDU is an error", {.fpduptr = 0}},
     {"mpa.markers.late", "A Marker one word behind its place is an error", {.marker_shift = 4}}});

void refuses_a_pointer_between(Context& context) {
  // Up to the next Marker: ULPDU_Length, header and CRC belong to it, too.
  constexpr std::size_t kUpToMarker = kMarkerPeriod - kFirstFpdu - 2 - kTaggedHeaderSize - 4;
  auto [memory, link] = marked_link(context, kPayload);
  link.stream.send(write_of(memory, 0, Octets(kUpToMarker)));
  link.stream.send(write_of(memory, 0, pattern(40)), {.fpduptr = 4});
  link.stream.expect_refusal({kMarkerError});
  context.expect_untouched(memory);
}

// The octet of a Marker changed on its way: the CRC covers it.
void finds_a_bit_in_a_marker(Context& context) {
  auto [memory, link] = marked_link(context, kPayload);
  Octets fpdu = link.stream.frame(write_of(memory, 0, pattern(kPayload)));
  fpdu[kDistance] ^= 0x01;  // of the reserved field, which would be ignored
  link.stream.send_octets(fpdu);
  link.stream.expect_refusal({kCrcError});
  context.expect_untouched(memory);
}

// An FPDU of a stream without Markers, where one is due. What stands there is payload.
void misses_a_marker(Context& context) {
  auto [memory, link] = marked_link(context, kPayload);
  FpduWriter plain({.crc = true, .markers = false});
  const Octets fpdu = plain.frame(encode(write_of(memory, 0, pattern(kPayload))));
  link.stream.send_octets(fpdu);
  link.stream.send_octets(fpdu);  // so that there is enough for one with a Marker
  link.stream.expect_refusal({kCrcError, kMarkerError});
  context.expect_untouched(memory);
}

// A Marker in front of the first FPDU is no FPDU if the target has not asked for Markers. Whether a
// Terminate may follow is the matter of mpa.fpdu.crc-error-first.
void refuses_what_was_not_asked_for(Context& context) {
  Link link = context.link();
  if (link.reply.markers()) throw Skipped("the target asks for Markers");
  FpduWriter marked({.crc = true, .markers = true});
  link.stream.send_octets(marked.frame(encode(tagged_segment(kWrite, 0, 0, {}))));
  link.stream.expect_end(Stream::Before::kTerminate);
  expect_service(context);
}

const Cases kMistakes{
    {"mpa.markers.not-asked", "Markers that the target has not asked for are no FPDUs",
     Needs::kListener, refuses_what_was_not_asked_for},
    {"mpa.markers.pointer-between", "An FPDUPTR between FPDUs that is not zero is an error",
     Needs::kAgent, refuses_a_pointer_between},
    {"mpa.markers.in-crc", "A bit wrong in a Marker is found by the CRC", Needs::kAgent,
     finds_a_bit_in_a_marker},
    {"mpa.markers.missing", "An FPDU without the Marker that is due is an error", Needs::kAgent,
     misses_a_marker},
};

}  // namespace

Cases cases() { return joined({kMistakes, kTaken, kWrong}); }

}  // namespace iwarp::conform::mpa_markers_received
