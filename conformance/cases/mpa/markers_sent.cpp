#include <algorithm>

#include "cases/catalogue.hpp"
#include "cases/mpa/support.hpp"

/// Markers in what the target sends. The stream looks for one at every 512th octet and judges each:
/// its FPDUPTR, and that the CRC covers it (RFC 5044 §4.2 to §4.4).
namespace iwarp::conform::mpa_markers_sent {
namespace {

constexpr std::size_t kHeader = kLengthSize + kUntaggedHeaderSize;
constexpr std::uint64_t kSendId = 1;

StartupFrame request_with(const Context& context, bool markers) {
  StartupFrame request = context.request();
  request.flags &= static_cast<std::uint8_t>(~kFlagMarkers);
  if (markers) request.flags |= kFlagMarkers;
  return request;
}

// A target that sends Markers, and memory for it to send from.
struct MarkedLink {
  Link link;
  Octets content;
  Region source;
};

MarkedLink marked_link(Context& context, std::size_t longest) {
  Link link = context.link({.request = request_with(context, true)});
  link.stream.write(0, 0, {});
  Octets content = pattern(longest);
  const Region source = context.agent().region(longest, "local_write");
  context.agent().store(source, 0, content);
  return {std::move(link), std::move(content), source};
}

Fpdu expect_send(Context& context, MarkedLink& marked, std::size_t length) {
  marked.link.agent_end().send(kSendId, marked.source, 0, length);
  Fpdu fpdu = marked.link.stream.expect_fpdu("an FPDU of a Send");
  const auto segment = parse_segment(fpdu.ulpdu);
  context.expect_equal(segment ? segment->payload : Octets{},
                       OctetView(marked.content).first(length), "the message as posted");
  context.expect_completion(marked.link.agent_end(), kSendId);
  return fpdu;
}

// --- where they stand ---

void begins_with_a_marker(Context& context) {
  MarkedLink marked = marked_link(context, 8);
  const Fpdu fpdu = expect_send(context, marked, 8);
  context.expect(
      fpdu.markers.size() == 1 && fpdu.markers.front().offset == 0 && get32(fpdu.wire, 0) == 0,
      "four octets of zero in front of the first FPDU", to_hex(fpdu.wire));
}

// The payload of an FPDU from `position` that ends `offset` octets in front of a Marker's place.
std::size_t payload_up_to(std::uint64_t position, std::size_t offset) {
  const auto markers_before = [](std::uint64_t end) {
    return (end + kMarkerPeriod - 1) / kMarkerPeriod;
  };
  for (std::uint64_t end = markers_before(position) * kMarkerPeriod - offset;;
       end += kMarkerPeriod) {
    if (end < position) continue;
    const std::uint64_t markers = markers_before(end) - markers_before(position);
    const std::uint64_t overhead = kHeader + kCrcSize + markers * kMarkerSize;
    if (end - position >= overhead) return end - position - overhead;
  }
}

// A Marker at each word of an FPDU: another FPDU brings the stream to the right place before.
void marks_every_offset(Context& context) {
  constexpr std::size_t kPayload = 38, kPad = 2, kFpdu = kHeader + kPayload + kPad + kCrcSize;
  MarkedLink marked = marked_link(context, 3 * kMarkerPeriod);
  const Fpdu first = expect_send(context, marked, 0);
  std::uint64_t position = first.wire.size();
  for (std::size_t offset = 0; offset <= kFpdu - kCrcSize; offset += 4) {
    for (const std::size_t payload : {payload_up_to(position, offset), kPayload}) {
      const Fpdu fpdu = expect_send(context, marked, payload);
      position = fpdu.position + fpdu.wire.size();
      if (payload != kPayload) continue;
      context.expect(fpdu.markers.size() == 1 && fpdu.markers.front().offset == offset &&
                         fpdu.markers.front().fpduptr == offset,
                     "a Marker with FPDUPTR " + std::to_string(offset),
                     std::to_string(fpdu.markers.size()) + " Markers");
    }
  }
}

void marks_lengths_around_the_period(Context& context) {
  MarkedLink marked = marked_link(context, 2 * kMarkerPeriod + 20);
  for (std::size_t length = kMarkerPeriod - 32; length < kMarkerPeriod + 20; ++length) {
    expect_send(context, marked, length);
  }
  for (std::size_t length = 2 * kMarkerPeriod - 32; length < 2 * kMarkerPeriod + 20; ++length) {
    expect_send(context, marked, length);
  }
}

// FPDUs with many Markers, the first of them in front of ULPDU_Length.
void marks_large_messages(Context& context) {
  Link link = context.link({.request = request_with(context, true)});
  link.stream.write(0, 0, {});
  for (const std::size_t length : {60000U, 59999U, 4097U, 90000U}) {
    const Octets message = pattern(length);
    post_send(context, link.agent_end(), message, kSendId);
    context.expect_equal(expect_message(link.stream), message, "the message as posted");
    context.expect_completion(link.agent_end(), kSendId);
  }
}

// Empty Reads need no memory, and so no agent.
void marks_small_fpdus(Context& context) {
  constexpr std::size_t kReads = 200;
  Link link = context.link({.request = request_with(context, true)});
  if (link.reply.enhanced && link.reply.enhanced->ird == 0) {
    throw Skipped("the target serves no Reads");
  }
  std::size_t markers = 0;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < kReads; ++i) {
    link.stream.send_read_request({});
    const Fpdu fpdu = link.stream.expect_fpdu("an empty RDMA Read Response");
    markers += fpdu.markers.size();
    end = fpdu.position + fpdu.wire.size();
  }
  context.expect_equal(markers, (end + kMarkerPeriod - 1) / kMarkerPeriod,
                       "Markers in all of them");
}

const Cases kMarked{
    {"mpa.markers.first", "The first FPDU has a Marker of zero in front", Needs::kAgent,
     begins_with_a_marker},
    {"mpa.markers.small-fpdus", "Of many small FPDUs those at every 512th octet have a Marker",
     Needs::kListener, marks_small_fpdus},
    {"mpa.markers.every-offset", "A Marker may stand at every word of an FPDU, in front included",
     Needs::kAgent, marks_every_offset},
    {"mpa.markers.around-the-period", "FPDUs about as long as the period are marked right",
     Needs::kAgent, marks_lengths_around_the_period},
    {"mpa.markers.large", "All Markers of a large FPDU point to its ULPDU_Length", Needs::kAgent,
     marks_large_messages},
};

// --- which connections have them ---

struct Wishes {
  std::string_view id, title;
  bool tester, target;
};

std::string pair_for(Context& context, bool target) {
  if (!target) return {};
  context.need("mpa");
  context.need("markers");
  return "markers=1";
}

// Several periods each way.
void expect_long_messages(Context& context, Link& link) {
  constexpr std::size_t kSize = 3000;
  const Octets message = pattern(kSize);
  const Region sink = context.agent().region(kSize, "local_write");
  link.agent_end().receive(2, sink, 0, kSize);
  link.stream.send_message(message);
  context.expect_completion(link.agent_end(), 2);
  context.expect_memory(sink, 0, message);
  post_send(context, link.agent_end(), message, 3);
  context.expect_equal(expect_message(link.stream), message, "the message as posted");
}

void agrees_as_responder(Context& context, const Wishes& wishes) {
  Link link = context.link({.request = request_with(context, wishes.tester),
                            .listen = pair_for(context, wishes.target)});
  context.expect_equal(link.reply.markers(), wishes.target, "M in the Reply, as the target wishes");
  expect_traffic(context, link);
  expect_long_messages(context, link);
}

const Cases kAsResponder = cases_of<Wishes>(
    Needs::kAgent, agrees_as_responder,
    {{"mpa.markers.neither", "With M in neither frame there are no Markers", false, false},
     {"mpa.markers.initiator", "With M in the Request alone the responder sends Markers", true,
      false},
     {"mpa.markers.responder", "With M in the Reply alone the initiator sends Markers", false,
      true},
     {"mpa.markers.both", "With M in both frames both ends send Markers", true, true}});

void agrees_as_initiator(Context& context, const Wishes& wishes) {
  Context::Call call = context.call(pair_for(context, wishes.target));
  context.expect_equal(call.request.markers(), wishes.target,
                       "M in the Request, as the target wishes");
  StartupFrame reply = context.reply_to(call.request);
  reply.flags &= static_cast<std::uint8_t>(~kFlagMarkers);
  if (wishes.tester) reply.flags |= kFlagMarkers;
  Link link = establish(context, std::move(call), reply);
  expect_traffic(context, link);
  expect_long_messages(context, link);
}

const Cases kAsInitiator = cases_of<Wishes>(
    Needs::kAgent, agrees_as_initiator,
    {{"mpa.markers.call-neither", "An initiator that sees no M sends no Markers, nor gets any",
      false, false},
     {"mpa.markers.call-reply", "An initiator that sees M in the Reply sends Markers", true, false},
     {"mpa.markers.call-request", "An initiator that set M in its Request takes Markers", false,
      true},
     {"mpa.markers.call-both", "An initiator can send Markers and take them", true, true}});

}  // namespace

Cases cases() { return joined({kMarked, kAsResponder, kAsInitiator}); }

}  // namespace iwarp::conform::mpa_markers_sent
