#include <algorithm>

#include "cases/catalogue.hpp"
#include "cases/mpa/support.hpp"

/// FPDUs of the target: each that arrives is judged by the stream, its pad, CRC and Markers; here
/// are the messages that make it show all of them, and their sizes (RFC 5044 §4.1, §4.5).
namespace iwarp::conform::mpa_fpdu_sent {
namespace {

constexpr std::uint64_t kSendId = 1;

// What the ULPDU and the whole FPDU of each segment of a Send measure.
struct Sizes {
  std::size_t ulpdu = 0, fpdu = 0;
};

std::vector<Sizes> sizes_of_a_message(Stream& stream, OctetView expected) {
  std::vector<Sizes> sizes;
  Octets message;
  for (;;) {
    const Fpdu fpdu = stream.expect_fpdu("an FPDU of a Send");
    const auto segment = parse_segment(fpdu.ulpdu);
    if (!segment || segment->opcode() != kSend || segment->mo != message.size()) {
      throw Failure("the next segment of a Send", segment ? describe(*segment) : "no segment");
    }
    put(message, segment->payload);
    sizes.push_back({fpdu.ulpdu.size(), fpdu.wire.size()});
    if (segment->last()) break;
  }
  if (!std::equal(message.begin(), message.end(), expected.begin(), expected.end())) {
    throw Failure("the message as posted", "another of " + count_of(message.size()));
  }
  return sizes;
}

void sends_every_length(Context& context) {
  constexpr std::size_t kLongest = 70;
  Link link = context.link();
  link.stream.write(0, 0, {});
  const Octets content = pattern(kLongest);
  const Region source = context.agent().region(kLongest, "local_write");
  context.agent().store(source, 0, content);
  for (std::size_t length = 0; length <= kLongest; ++length) {
    link.agent_end().send(kSendId, source, 0, length);
    const auto sizes = sizes_of_a_message(link.stream, OctetView(content).first(length));
    context.expect_equal(sizes.front().ulpdu, kUntaggedHeaderSize + length,
                         "ULPDU_Length of header and payload");
    context.expect_completion(link.agent_end(), kSendId);
  }
}

struct Message {
  std::string_view id, title;
  std::size_t size;
  int segment_size;  ///< TCP's, as the tester wishes; 0: what there is.
  bool markers;
};

StartupFrame request_with(const Context& context, bool markers) {
  StartupFrame request = context.request();
  if (markers) request.flags |= kFlagMarkers;
  return request;
}

// Sends a message that takes several FPDUs; the sizes of all but the last, which is not full.
std::vector<Sizes> full_fpdus(Context& context, std::size_t size, int segment_size, bool markers) {
  Link link =
      context.link({.request = request_with(context, markers), .max_segment_size = segment_size});
  link.stream.write(0, 0, {});
  const Octets content = pattern(size);
  post_send(context, link.agent_end(), content, kSendId);
  std::vector<Sizes> sizes = sizes_of_a_message(link.stream, content);
  context.expect_completion(link.agent_end(), kSendId);
  sizes.pop_back();
  if (sizes.empty()) throw Skipped("the TCP segments are larger than the message");
  return sizes;
}

// TCP's options take some of a segment; a Marker may stand in every 512 octets of it.
constexpr std::size_t kTcpOptions = 40, kFpduOverhead = 6 + 3, kRounding = 8;

void fills_segments(Context& context, const Message& row) {
  constexpr std::size_t kLargestUlpdu = 64768;
  const auto sizes = full_fpdus(context, row.size, row.segment_size, row.markers);
  const auto [least, most] = std::minmax_element(
      sizes.begin(), sizes.end(), [](const Sizes& a, const Sizes& b) { return a.ulpdu < b.ulpdu; });
  context.expect(most->ulpdu <= kLargestUlpdu, "ULPDUs of at most 64768 octets",
                 std::to_string(most->ulpdu));
  context.expect(
      most->ulpdu - least->ulpdu <= kRounding, "FPDUs of one size",
      "ULPDUs of " + std::to_string(least->ulpdu) + " to " + std::to_string(most->ulpdu));
  if (row.segment_size == 0) return;
  const auto room = static_cast<std::size_t>(row.segment_size);
  for (const Sizes& size : sizes) {
    context.expect(size.fpdu <= room, "an FPDU of at most " + count_of(room),
                   std::to_string(size.fpdu));
  }
  const std::size_t markers = row.markers ? 4 * ((room + 511) / 512) : 0;
  const std::size_t enough = room - kTcpOptions - kFpduOverhead - markers - kRounding;
  context.expect(least->ulpdu >= enough, "ULPDUs of at least " + count_of(enough),
                 std::to_string(least->ulpdu));
}

const Cases kMessages = cases_of<Message>(
    Needs::kAgent, fills_segments,
    {{"mpa.fpdu.sent-large", "A large message goes out in FPDUs of one size, but for the last",
      90000, 0, false},
     {"mpa.fpdu.sent-large-marked", "The same with Markers", 90000, 0, true},
     {"mpa.fpdu.mulpdu-1460", "FPDUs fit and fill TCP segments of 1460 octets", 20000, 1460, false},
     {"mpa.fpdu.mulpdu-1000", "FPDUs fit and fill TCP segments of 1000 octets", 20000, 1000, false},
     {"mpa.fpdu.mulpdu-536", "FPDUs fit and fill TCP segments of 536 octets", 9000, 536, false},
     {"mpa.fpdu.mulpdu-1460-marked", "With Markers, FPDUs fit and fill segments of 1460 octets",
      20000, 1460, true},
     {"mpa.fpdu.mulpdu-536-marked", "With Markers, FPDUs fit and fill segments of 536 octets", 9000,
      536, true}});

void keeps_128_octets(Context& context) {
  constexpr int kTinySegment = 100;
  constexpr std::size_t kLeastMulpdu = 128;
  for (const Sizes& size : full_fpdus(context, 2000, kTinySegment, false)) {
    context.expect(size.ulpdu + kRounding > kLeastMulpdu, "a ULPDU of about 128 octets or more",
                   std::to_string(size.ulpdu));
  }
}

const Cases kLengths{
    {"mpa.fpdu.sent-every-length", "The target's FPDUs have the right pad and CRC at any length",
     Needs::kAgent, sends_every_length},
    {"mpa.fpdu.mulpdu-least", "In tiny TCP segments the MULPDU does not fall below 128 octets",
     Needs::kAgent, keeps_128_octets},
};

}  // namespace

Cases cases() { return joined({kLengths, kMessages}); }

}  // namespace iwarp::conform::mpa_fpdu_sent
