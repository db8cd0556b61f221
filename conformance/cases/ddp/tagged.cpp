#include "cases/rdma.hpp"

/// Tagged segments: where they are placed and which are refused (RFC 5041 §4.2, §5.2, §7.1).
namespace iwarp::conform::ddp_tagged {
namespace {

using ddp_error::kBounds, ddp_error::kInvalidStag, ddp_error::kToWrap;

constexpr std::size_t kSize = 64;
constexpr const char* kWritable = "local_write,remote_write";

// --- faults ---

struct FaultRow {
  std::string_view id, title;
  /// The Write that the target must refuse, towards a region of kSize octets.
  std::function<Segment(const Region&)> segment;
  Causes causes;
};

Segment write_at(std::uint32_t stag, std::uint64_t to, std::size_t size) {
  return tagged_segment(kWrite, stag, to, pattern(size));
}

void refuses_a_write(Context& context, const FaultRow& row) {
  const Region region = context.agent().region(kSize, kWritable);
  Link link = context.link();
  link.stream.send(row.segment(region));
  expect_terminated(link.stream, row.causes);
  context.expect_untouched(region);
}

const Cases kRefused = cases_of<FaultRow>(
    Needs::kAgent, refuses_a_write,
    {{"ddp.tagged.stag-other-key",
      "An STag with another key is refused",
      [](const Region& r) { return write_at(r.stag ^ 1, r.address, 8); },
      {kInvalidStag}},
     {"ddp.tagged.stag-other-index",
      "An STag with another index is refused",
      [](const Region& r) { return write_at(r.stag ^ 0x100, r.address, 8); },
      {kInvalidStag}},
     {"ddp.tagged.stag-high-bit",
      "All bits of an STag count",
      [](const Region& r) { return write_at(r.stag ^ 0x80000000, r.address, 8); },
      {kInvalidStag}},
     {"ddp.tagged.below-base",
      "A Write that begins one octet below the buffer is refused",
      [](const Region& r) { return write_at(r.stag, r.address - 1, 2); },
      {kBounds, kToWrap}},
     {"ddp.tagged.below-base-far",
      "A Write that ends at the buffer's begin is refused",
      [](const Region& r) { return write_at(r.stag, r.address - 8, 8); },
      {kBounds, kToWrap}},
     {"ddp.tagged.beyond-end",
      "A Write that ends one octet behind the buffer is refused",
      [](const Region& r) { return write_at(r.stag, r.address + kSize - 7, 8); },
      {kBounds}},
     {"ddp.tagged.at-end",
      "A Write that begins at the buffer's end is refused",
      [](const Region& r) { return write_at(r.stag, r.address + kSize, 1); },
      {kBounds}},
     {"ddp.tagged.too-long",
      "A Write longer than the buffer is refused",
      [](const Region& r) { return write_at(r.stag, r.address, kSize + 1); },
      {kBounds}},
     {"ddp.tagged.to-bit-32",
      "A TO is not cut to 32 bits",
      [](const Region& r) { return write_at(r.stag, r.address ^ 0x100000000, 8); },
      {kBounds}},
     {"ddp.tagged.to-bit-63",
      "A TO is no signed number",
      [](const Region& r) { return write_at(r.stag, r.address ^ 0x8000000000000000, 8); },
      {kBounds}},
     {"ddp.tagged.to-wrap",
      "A Write whose TO wraps is refused",
      [](const Region& r) { return write_at(r.stag, 0xFFFFFFFFFFFFFFFC, 8); },
      {kToWrap, kBounds}}});

void refuses_a_stag_never_made(Context& context) {
  Link link = context.link();
  link.stream.write(kWildStag, kWildTo, pattern(8));
  expect_terminated(link.stream, {kInvalidStag});
}

void refuses_a_deregistered_region(Context& context) {
  const Region region = context.agent().region(kSize, kWritable);
  Link link = context.link();
  link.stream.write(region.stag, region.address, pattern(8));
  sync(link.stream);
  context.agent().deregister(region);
  link.stream.write(region.stag, region.address, pattern(8));
  expect_terminated(link.stream, {kInvalidStag});
  context.expect_target_alive();
}

const Cases kGone{
    {"ddp.tagged.stag-unknown", "A Write to an STag that was never made is refused",
     Needs::kListener, refuses_a_stag_never_made},
    {"ddp.tagged.stag-deregistered", "A Write to a region that is gone is refused", Needs::kAgent,
     refuses_a_deregistered_region},
};

struct RightsRow {
  std::string_view id, title, access;
};

// RFC 5041 has no code for missing rights: the STag is not valid for this, or not for the stream;
// that of RFC 5040 may be meant, too.
const Causes kNoRight{kInvalidStag, ddp_error::kNotAssociated, rdmap_error::kAccess};

void refuses_without_the_right(Context& context, const RightsRow& row) {
  const Region region = context.agent().region(kSize, std::string(row.access));
  Link link = context.link();
  link.stream.write(region.stag, region.address, pattern(8));
  expect_terminated(link.stream, kNoRight);
  context.expect_untouched(region);
}

const Cases kWithoutRights = cases_of<RightsRow>(
    Needs::kAgent, refuses_without_the_right,
    {{"ddp.tagged.no-right", "A Write to a region without remote access is refused", "local_write"},
     {"ddp.tagged.read-only", "A Write to a region open for reading only is refused",
      "local_write,remote_read"}});

void refuses_the_window_of_another_stream(Context& context) {
  context.need("window");
  const Region region = context.agent().region(kSize, kWritable);
  Link owner = talking_link(context);
  const std::uint32_t stag = owner.agent_end().window(region, 0, kSize, "remote_write");
  Link other = context.link();
  other.stream.write(stag, region.address, pattern(8));
  expect_terminated(other.stream, {ddp_error::kNotAssociated, kInvalidStag});
  context.expect_untouched(region);
  owner.stream.write(stag, region.address, pattern(8));
  sync(owner.stream);
  context.expect_memory(region, 0, pattern(8));
}

const Cases kOfAnotherStream{
    {"ddp.tagged.other-stream", "A window serves only the stream that it is bound to",
     Needs::kAgent, refuses_the_window_of_another_stream},
};

struct WindowRow {
  std::string_view id, title;
  std::size_t offset, size;  // of the Write; the window is octets 16 to 31 of the region
};

void refuses_beside_a_window(Context& context, const WindowRow& row) {
  context.need("window");
  const Region region = context.agent().region(kSize, kWritable);
  Link link = talking_link(context);
  const std::uint32_t stag = link.agent_end().window(region, 16, 16, "remote_write");
  link.stream.write(stag, region.address + row.offset, pattern(row.size));
  expect_terminated(link.stream, {kBounds});
  context.expect_untouched(region);
}

const Cases kBesideAWindow =
    cases_of<WindowRow>(Needs::kAgent, refuses_beside_a_window,
                        {{"ddp.tagged.window-below", "A window has a begin of its own", 15, 2},
                         {"ddp.tagged.window-beyond", "A window has an end of its own", 31, 2}});

void refuses_a_window_without_the_right(Context& context) {
  context.need("window");
  const Region region = context.agent().region(kSize, "local_write,remote_write,remote_read");
  Link link = talking_link(context);
  const std::uint32_t stag = link.agent_end().window(region, 0, kSize, "remote_read");
  link.stream.write(stag, region.address, pattern(8));
  expect_terminated(link.stream, kNoRight);
  context.expect_untouched(region);
}

void places_through_a_window(Context& context) {
  context.need("window");
  const Region region = context.agent().region(kSize, kWritable);
  Link link = talking_link(context);
  const std::uint32_t stag = link.agent_end().window(region, 16, 16, "remote_write");
  link.stream.write(stag, region.address + 16, pattern(16));
  sync(link.stream);
  context.expect_memory(region, 0, Octets(16, 0));
  context.expect_memory(region, 16, pattern(16));
  context.expect_memory(region, 32, Octets(kSize - 32, 0));
}

const Cases kThroughAWindow{
    {"ddp.tagged.window", "A Write through a window is placed", Needs::kAgent,
     places_through_a_window},
};

// The first segment fills the region, the second begins behind it.
void refuses_a_later_segment(Context& context) {
  const Region region = context.agent().region(kSize, kWritable);
  Link link = context.link();
  const auto segments = cut_message(write_at(region.stag, region.address, 2 * kSize + 1), kSize);
  link.stream.send_together(segments);
  expect_terminated(link.stream, {kBounds});
  context.expect_memory(region, 0, segments[0].payload);
}

// The first octets of the second segment would fit; none of them may be placed.
void places_nothing_of_a_crossing_segment(Context& context) {
  const Region region = context.agent().region(kSize, kWritable);
  Link link = context.link();
  const auto segments =
      cut_message(write_at(region.stag, region.address, kSize + 1), kSize / 2 + 1);
  link.stream.send_together(segments);
  expect_terminated(link.stream, {kBounds});
  context.expect_memory(region, 0, segments[0].payload);
  const std::size_t before = segments[0].payload.size();
  context.expect_memory(region, before, Octets(kSize - before, 0));
}

void drops_what_follows_an_error(Context& context) {
  const Region region = context.agent().region(kSize, kWritable);
  Link link = context.link();
  link.stream.send_together({write_at(region.stag, region.address + kSize, 8),
                             write_at(region.stag, region.address, 8),
                             write_at(region.stag, region.address + 8, 8)});
  expect_terminated(link.stream, {kBounds});
  context.expect_untouched(region);
}

const Cases kRefusedInPart{
    {"ddp.tagged.window-right", "A window has rights of its own", Needs::kAgent,
     refuses_a_window_without_the_right},
    {"ddp.tagged.later-segment", "The bounds of every segment are checked", Needs::kAgent,
     refuses_a_later_segment},
    {"ddp.tagged.crossing-segment", "Nothing is placed of a segment that crosses the end",
     Needs::kAgent, places_nothing_of_a_crossing_segment},
    {"ddp.tagged.after-error", "Segments behind an error are dropped silently", Needs::kAgent,
     drops_what_follows_an_error},
};

// --- placement ---

struct PlaceRow {
  std::string_view id, title;
  std::size_t offset, size;
};

void places_a_write(Context& context, const PlaceRow& row) {
  const Region region = context.agent().region(kSize, kWritable, 0x5A);
  Link link = context.link();
  link.stream.write(region.stag, region.address + row.offset, pattern(row.size));
  sync(link.stream);
  Octets expected(kSize, 0x5A);
  const Octets payload = pattern(row.size);
  std::copy(payload.begin(), payload.end(),
            expected.begin() + static_cast<std::ptrdiff_t>(row.offset));
  context.expect_memory(region, 0, expected);
}

const Cases kPlaced = cases_of<PlaceRow>(
    Needs::kAgent, places_a_write,
    {{"ddp.tagged.first-octet", "A Write to the first octet of a region is placed", 0, 1},
     {"ddp.tagged.last-octet", "A Write to the last octet of a region is placed", kSize - 1, 1},
     {"ddp.tagged.part", "A Write to a part of a region touches only that", 13, 21},
     {"ddp.tagged.whole", "A Write may cover a region", 0, kSize}});

struct CutRow {
  std::string_view id, title;
  std::size_t size, cut;
};

void places_segments(Context& context, const CutRow& row) {
  const Region region = context.agent().region(row.size, kWritable);
  Link link = context.link();
  const Octets payload = pattern(row.size);
  send_cut(link.stream, tagged_segment(kWrite, region.stag, region.address, payload), row.cut);
  sync(link.stream);
  context.expect_memory(region, 0, payload);
}

const Cases kInSegments = cases_of<CutRow>(
    Needs::kAgent, places_segments,
    {{"ddp.tagged.segments-of-1", "A Write comes in segments of one octet", 64, 1},
     {"ddp.tagged.segments-of-7", "A Write comes in segments of odd size", 100, 7},
     {"ddp.tagged.large", "A Write of 1 MiB comes in segments of 1400 octets", 1 << 20, 1400},
     {"ddp.tagged.large-segments", "A Write of 1 MiB comes in segments of 60000 octets", 1 << 20,
      60000}});

// A Data Source should send its segments by increasing TO, but each says itself where it belongs.
void places_segments_in_any_order(Context& context) {
  const Region region = context.agent().region(kSize, kWritable);
  Link link = context.link();
  auto segments = cut_message(write_at(region.stag, region.address, kSize), kSize / 4);
  std::swap(segments[0].to, segments[2].to);
  std::swap(segments[0].payload, segments[2].payload);
  link.stream.send_together(segments);
  sync(link.stream);
  context.expect_memory(region, 0, pattern(kSize));
}

void places_into_several_buffers(Context& context) {
  const Region first = context.agent().region(kSize, kWritable);
  const Region second = context.agent().region(kSize, kWritable);
  Link link = context.link();
  link.stream.write(second.stag, second.address, pattern(kSize, 2));
  link.stream.write(first.stag, first.address, pattern(kSize, 1));
  sync(link.stream);
  context.expect_memory(first, 0, pattern(kSize, 1));
  context.expect_memory(second, 0, pattern(kSize, 2));
}

// RFC 5041 §5.2: of an empty segment nothing but the control fields counts.
void takes_empty_segments_to_anywhere(Context& context) {
  Link link = context.link();
  link.stream.write(kWildStag, kWildTo, {});
  link.stream.write(0, 0, {});
  link.stream.write(0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, {});
  sync(link.stream);
}

void takes_empty_segments_without_rights(Context& context) {
  const Region region = context.agent().region(kSize, "local_write");
  Link link = context.link();
  link.stream.write(region.stag, region.address, {});
  link.stream.write(region.stag, region.address + kSize + 1, {});
  context.agent().deregister(region);
  link.stream.write(region.stag, region.address, {});
  sync(link.stream);
}

const Cases kOtherPlacements{
    {"ddp.tagged.any-order", "Segments are placed where their TO says, in whatever order",
     Needs::kAgent, places_segments_in_any_order},
    {"ddp.tagged.several-buffers", "Each Write goes to the buffer that its STag names",
     Needs::kAgent, places_into_several_buffers},
    {"ddp.tagged.empty-anywhere", "STag and TO of an empty Write are not checked", Needs::kListener,
     takes_empty_segments_to_anywhere},
    {"ddp.tagged.empty-without-rights",
     "An empty Write may name what is closed, beyond the end, or gone", Needs::kAgent,
     takes_empty_segments_without_rights},
};

}  // namespace

Cases cases() {
  return joined({kPlaced, kInSegments, kOtherPlacements, kThroughAWindow, kRefused, kGone,
                 kWithoutRights, kOfAnotherStream, kBesideAWindow, kRefusedInPart});
}

}  // namespace iwarp::conform::ddp_tagged
