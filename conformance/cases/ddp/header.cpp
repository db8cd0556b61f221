#include "cases/rdma.hpp"

/// The control field and the size of headers that come in (RFC 5041 §4.1, §4.4).
namespace iwarp::conform::ddp_header {
namespace {

struct VersionRow {
  std::string_view id, title;
  std::uint8_t version;
};

std::uint8_t with_version(std::uint8_t control, std::uint8_t version) {
  return static_cast<std::uint8_t>((control & ~kDdpVersionMask) | version);
}

void refuses_tagged_version(Context& context, const VersionRow& row) {
  Link link = context.link();
  Segment segment = empty_write();
  segment.ddp_control = with_version(segment.ddp_control, row.version);
  link.stream.send(segment);
  expect_terminated(link.stream, {ddp_error::kTaggedVersion});
}

const Cases kTaggedVersions = cases_of<VersionRow>(
    Needs::kListener, refuses_tagged_version,
    {{"ddp.header.version-0-tagged", "A tagged segment of DDP version 0 ends the stream", 0},
     {"ddp.header.version-2-tagged", "A tagged segment of DDP version 2 ends the stream", 2},
     {"ddp.header.version-3-tagged", "A tagged segment of DDP version 3 ends the stream", 3}});

void refuses_untagged_version(Context& context, const VersionRow& row) {
  Link link = context.link();
  Segment segment = empty_read_request(1);
  segment.ddp_control = with_version(segment.ddp_control, row.version);
  link.stream.send(segment);
  expect_terminated(link.stream, {ddp_error::kUntaggedVersion});
}

const Cases kUntaggedVersions = cases_of<VersionRow>(
    Needs::kListener, refuses_untagged_version,
    {{"ddp.header.version-0-untagged", "An untagged segment of DDP version 0 ends the stream", 0},
     {"ddp.header.version-2-untagged", "An untagged segment of DDP version 2 ends the stream", 2},
     {"ddp.header.version-3-untagged", "An untagged segment of DDP version 3 ends the stream", 3}});

void refuses_a_later_version(Context& context) {
  const Region region = context.agent().region(64, "local_write,remote_write");
  Link link = context.link();
  auto segments = cut_message(tagged_segment(kWrite, region.stag, region.address, pattern(64)), 32);
  segments[1].ddp_control = with_version(segments[1].ddp_control, 2);
  link.stream.send_together(segments);
  expect_terminated(link.stream, {ddp_error::kTaggedVersion});
  const Octets rest = context.agent().fetch(region, 32, 32);
  context.expect_equal(rest, Octets(32, 0), "nothing of the second segment was placed");
}

// Each reserved bit alone, then all of them.
constexpr std::uint8_t kReservedBits[] = {0x04, 0x08, 0x10, 0x20, kDdpReserved};

void ignores_reserved_bits_of_tagged(Context& context) {
  expect_bits_ignored_when_tagged(context, &Segment::ddp_control, kReservedBits);
}

void ignores_reserved_bits_of_untagged(Context& context) {
  expect_bits_ignored_when_untagged(context, &Segment::ddp_control, kReservedBits);
}

const Cases kControlFields{
    {"ddp.header.reserved-tagged", "Reserved bits of a tagged segment are not looked at",
     Needs::kListener, ignores_reserved_bits_of_tagged},
    {"ddp.header.reserved-untagged", "Reserved bits of an untagged segment are not looked at",
     Needs::kListener, ignores_reserved_bits_of_untagged},
    {"ddp.header.version-later-segment", "The DDP version of every segment is checked",
     Needs::kAgent, refuses_a_later_version},
};

struct TruncatedRow {
  std::string_view id, title;
  Segment whole;
  std::size_t size;
};

// RFC 5041 has no code for it.
void refuses_a_truncated_header(Context& context, const TruncatedRow& row) {
  Link link = context.link();
  Octets ulpdu = encode(row.whole);
  ulpdu.resize(row.size);
  link.stream.send_fpdu(ulpdu);
  expect_terminated(link.stream, {});
  context.expect_target_alive();
}

const Cases kTruncated = cases_of<TruncatedRow>(
    Needs::kListener, refuses_a_truncated_header,
    {{"ddp.header.truncated-tagged", "A ULPDU too short for a tagged header ends the stream",
      empty_write(), kTaggedHeaderSize - 1},
     {"ddp.header.truncated-untagged", "A ULPDU too short for an untagged header ends the stream",
      empty_read_request(1), kUntaggedHeaderSize - 1},
     {"ddp.header.truncated-control", "A ULPDU of one octet ends the stream", empty_write(), 1}});

}  // namespace

Cases cases() { return joined({kControlFields, kTaggedVersions, kUntaggedVersions, kTruncated}); }

}  // namespace iwarp::conform::ddp_header
