#include "cases/rdma.hpp"

/// Read Requests that the target must refuse (RFC 5040 §5.2.1, §7.2).
namespace iwarp::conform::rdmap_read_faults {
namespace {

using rdmap_error::kBounds, rdmap_error::kInvalidStag, rdmap_error::kToWrap;

constexpr std::size_t kSize = 64;
constexpr const char* kReadable = "local_write,remote_read";

struct FaultRow {
  std::string_view id, title;
  /// What the target must refuse, of a region of kSize octets.
  std::function<ReadRequest(const Region&)> request;
  Causes causes;
};

ReadRequest read_of(std::uint32_t stag, std::uint64_t to, std::uint32_t size) {
  return {.sink_stag = 1, .size = size, .source_stag = stag, .source_to = to};
}

void refuses_a_read(Context& context, const FaultRow& row) {
  const Region region = context.agent().region(kSize, kReadable);
  Link link = context.link();
  link.stream.send_read_request(row.request(region));
  expect_terminated(link.stream, row.causes);
}

const Cases kRefused = cases_of<FaultRow>(
    Needs::kAgent, refuses_a_read,
    {{"rdmap.read.stag-other-key",
      "A Read of an STag with another key is refused",
      [](const Region& r) { return read_of(r.stag ^ 1, r.address, 8); },
      {kInvalidStag}},
     {"rdmap.read.stag-other-index",
      "A Read of an STag with another index is refused",
      [](const Region& r) { return read_of(r.stag ^ 0x100, r.address, 8); },
      {kInvalidStag}},
     {"rdmap.read.below-base",
      "A Read that begins below the region is refused",
      [](const Region& r) { return read_of(r.stag, r.address - 1, 2); },
      {kBounds, kToWrap}},
     {"rdmap.read.beyond-end",
      "A Read that ends one octet behind the region is refused",
      [](const Region& r) { return read_of(r.stag, r.address + kSize - 7, 8); },
      {kBounds}},
     {"rdmap.read.at-end",
      "A Read that begins at the end of the region is refused",
      [](const Region& r) { return read_of(r.stag, r.address + kSize, 1); },
      {kBounds}},
     {"rdmap.read.too-long",
      "A Read of 2^32-1 octets is refused",
      [](const Region& r) { return read_of(r.stag, r.address, 0xFFFFFFFF); },
      {kBounds}},
     {"rdmap.read.to-bit-32",
      "A source TO is not cut to 32 bits",
      [](const Region& r) { return read_of(r.stag, r.address ^ 0x100000000, 8); },
      {kBounds}},
     {"rdmap.read.to-wrap",
      "A Read whose source TO wraps is refused",
      [](const Region& r) { return read_of(r.stag, 0xFFFFFFFFFFFFFFFC, 8); },
      {kToWrap, kBounds}},
     {"rdmap.read.to-wrap-long",
      "A Read that wraps into the region is refused",
      [](const Region& r) { return read_of(r.stag, r.address - 0x80000000, 0x80000008); },
      {kToWrap, kBounds}}});

struct RightsRow {
  std::string_view id, title, access;
};

void refuses_without_the_right(Context& context, const RightsRow& row) {
  const Region region = context.agent().region(kSize, std::string(row.access));
  Link link = context.link();
  link.stream.send_read_request(read_of(region.stag, region.address, 8));
  expect_terminated(link.stream, {rdmap_error::kAccess});
}

const Cases kWithoutRights = cases_of<RightsRow>(
    Needs::kAgent, refuses_without_the_right,
    {{"rdmap.read.no-right", "A Read of a region without remote access is refused", "local_write"},
     {"rdmap.read.write-only", "A Read of a region open for writing only is refused",
      "local_write,remote_write"}});

void refuses_a_stag_never_made(Context& context) {
  Link link = context.link();
  link.stream.send_read_request(read_of(kWildStag, kWildTo, 8));
  expect_terminated(link.stream, {kInvalidStag});
}

void refuses_a_deregistered_region(Context& context) {
  const Region region = context.agent().region(kSize, kReadable, 0x5A);
  Link link = context.link();
  context.expect_equal(read_from(link.stream, region.stag, region.address, 8), Octets(8, 0x5A),
                       "the region can be read at first");
  context.agent().deregister(region);
  link.stream.send_read_request(read_of(region.stag, region.address, 8));
  expect_terminated(link.stream, {kInvalidStag});
  context.expect_target_alive();
}

const Cases kGone{
    {"rdmap.read.stag-unknown", "A Read of an STag that was never made is refused",
     Needs::kListener, refuses_a_stag_never_made},
    {"rdmap.read.stag-deregistered", "A Read of a region that is gone is refused", Needs::kAgent,
     refuses_a_deregistered_region},
};

void refuses_the_window_of_another_stream(Context& context) {
  context.need("window");
  const Region region = context.agent().region(kSize, kReadable, 0x5A);
  Link owner = talking_link(context);
  const std::uint32_t stag = owner.agent_end().window(region, 0, kSize, "remote_read");
  Link other = context.link();
  other.stream.send_read_request(read_of(stag, region.address, 8));
  expect_terminated(other.stream, {rdmap_error::kNotAssociated, kInvalidStag});
  context.expect_equal(read_from(owner.stream, stag, region.address, 8), Octets(8, 0x5A),
                       "the window still serves its stream");
}

const Cases kOfAnotherStream{
    {"rdmap.read.other-stream", "A window is read only by the stream it is bound to", Needs::kAgent,
     refuses_the_window_of_another_stream},
};

struct WindowRow {
  std::string_view id, title;
  std::size_t offset, size;  // of the Read; the window is octets 16 to 31 of the region
  std::string_view access;
  Cause cause;
};

void refuses_beside_a_window(Context& context, const WindowRow& row) {
  context.need("window");
  const Region region = context.agent().region(kSize, "local_write,remote_write,remote_read");
  Link link = talking_link(context);
  const std::uint32_t stag = link.agent_end().window(region, 16, 16, std::string(row.access));
  link.stream.send_read_request(
      read_of(stag, region.address + row.offset, static_cast<std::uint32_t>(row.size)));
  expect_terminated(link.stream, {row.cause});
}

const Cases kBesideAWindow =
    cases_of<WindowRow>(Needs::kAgent, refuses_beside_a_window,
                        {{"rdmap.read.window-below", "A Read may not begin below a window", 15, 2,
                          "remote_read", kBounds},
                         {"rdmap.read.window-beyond", "A Read may not go beyond a window", 31, 2,
                          "remote_read", kBounds},
                         {"rdmap.read.window-right", "A window open for writing cannot be read", 16,
                          16, "remote_write", rdmap_error::kAccess}});

struct LengthRow {
  std::string_view id, title;
  std::size_t size, cut;
};

// RFC 5040 has no code for a Read Request without a whole header; its buffer has no room for more.
void refuses_another_length(Context& context, const LengthRow& row) {
  Link link = context.link();
  Octets header = encode(ReadRequest{});
  header.resize(row.size);
  send_cut(link.stream, untagged_segment(kReadRequest, kReadQueue, 1, 0, header), row.cut);
  expect_terminated(link.stream, {});
  context.expect_target_alive();
}

const Cases kOtherLengths = cases_of<LengthRow>(
    Needs::kListener, refuses_another_length,
    {{"rdmap.read.request-short", "A Read Request of 27 octets ends the stream", 27, 27},
     {"rdmap.read.request-empty", "A Read Request without a header ends the stream", 0, 28},
     {"rdmap.read.request-long", "A Read Request of 29 octets ends the stream", 29, 29},
     {"rdmap.read.request-long-second",
      "A Read Request that is too long by its second segment ends the stream", 29, 28}});

void refuses_an_offset(Context& context) {
  Link link = context.link();
  link.stream.send(untagged_segment(kReadRequest, kReadQueue, 1, 28, encode(ReadRequest{})));
  expect_terminated(link.stream, {ddp_error::kInvalidMo, ddp_error::kTooLong});
}

void serves_nothing_behind_an_error(Context& context) {
  const Region region = context.agent().region(kSize, kReadable);
  Link link = context.link();
  const auto segment = [](std::uint32_t msn, const ReadRequest& request) {
    return untagged_segment(kReadRequest, kReadQueue, msn, 0, encode(request));
  };
  link.stream.send_together({segment(1, read_of(region.stag, region.address, kSize + 1)),
                             segment(2, read_of(region.stag, region.address, kSize))});
  expect_terminated(link.stream, {kBounds});
}

// Nothing of a Read that leads out of the region is returned, not even what lies inside.
void returns_nothing_of_a_refused_read(Context& context) {
  const Region region = context.agent().region(200000, kReadable);
  Link link = context.link();
  link.stream.send_read_request(read_of(region.stag, region.address, 200001));
  const Segment segment = link.stream.expect_segment();
  context.expect(segment.opcode() == kTerminate, "a Terminate and no Read Response",
                 describe(segment));
  const auto terminate = parse_terminate(segment.payload);
  context.expect(terminate && terminate->cause == kBounds, "a bounds violation", describe(segment));
}

const Cases kRefusedOtherwise{
    {"rdmap.read.request-offset", "A Read Request behind its buffer's end is refused",
     Needs::kListener, refuses_an_offset},
    {"rdmap.read.after-error", "Reads behind an error are not served", Needs::kAgent,
     serves_nothing_behind_an_error},
    {"rdmap.read.nothing-returned", "A refused Read returns nothing", Needs::kAgent,
     returns_nothing_of_a_refused_read},
};

}  // namespace

Cases cases() {
  return joined({kRefused, kGone, kWithoutRights, kOfAnotherStream, kBesideAWindow, kOtherLengths,
                 kRefusedOtherwise});
}

}  // namespace iwarp::conform::rdmap_read_faults
