#include "cases/rdma.hpp"

/// RDMA Writes in both directions (RFC 5040 §5.1).
namespace iwarp::conform::rdmap_write {
namespace {

constexpr std::uint32_t kStag = 0x89ABCDEF;  // of the tester's memory

void takes_a_write_silently(Context& context) {
  const Region region = context.agent().region(64, "local_write,remote_write");
  const Region received = context.agent().region(64, "local_write");
  Link link = link_with_receives(context, received, 1, 64);
  link.stream.write(region.stag, region.address, pattern(64));
  sync(link.stream);
  context.expect_no_completion(link.agent_end());
  context.expect_memory(region, 0, pattern(64));
  context.expect_untouched(received);
}

void takes_writes_one_after_the_other(Context& context) {
  constexpr std::size_t kCount = 100, kSize = 24;
  const Region region = context.agent().region(kCount * kSize, "local_write,remote_write");
  Link link = context.link();
  const Octets all = pattern(kCount * kSize);
  std::vector<Segment> writes;
  for (std::size_t at = all.size(); at > 0; at -= kSize) {  // from the end to the begin
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(at);
    writes.push_back(
        tagged_segment(kWrite, region.stag, region.address + at - kSize, Octets(end - kSize, end)));
  }
  link.stream.send_together(writes);
  sync(link.stream);
  context.expect_memory(region, 0, all);
}

const Cases kReceived{
    {"rdmap.write.silent", "A Write is placed and its program is told nothing", Needs::kAgent,
     takes_a_write_silently},
    {"rdmap.write.many", "Many Writes are placed, each at its TO", Needs::kAgent,
     takes_writes_one_after_the_other},
};

struct SentRow {
  std::string_view id, title;
  std::size_t size;
  std::uint32_t stag;
  std::uint64_t to;
};

void writes_to_the_tester(Context& context, const SentRow& row) {
  const Region region = context.agent().region(row.size + 8, "local_write");
  const Octets data = pattern(row.size);
  context.agent().store(region, 0, data);
  Link link = talking_link(context);
  link.agent_end().write(1, region, row.size, row.stag, row.to);
  const TaggedMessage sent = expect_tagged_message(link.stream, kWrite);
  context.expect_equal(sent.payload, data, "the Write holds what was posted");
  if (row.size > 0) {
    context.expect_equal(sent.stag, row.stag, "STag");
    context.expect_equal(sent.to, row.to, "TO");
  } else {
    context.expect_equal(sent.segments, 1, "segments of an empty Write");
  }
  context.expect_completion(link.agent_end(), 1);
}

const Cases kSizesSent = cases_of<SentRow>(
    Needs::kAgent, writes_to_the_tester,
    {{"rdmap.write.sent-empty", "The target sends an empty Write as one segment", 0, kStag, 0},
     {"rdmap.write.sent-octet", "The target sends a Write of one octet", 1, kStag, 17},
     {"rdmap.write.sent-64k", "The target sends a Write of 65536 octets", 65536, kStag, 0x1000},
     {"rdmap.write.sent-large", "The target sends a Write of a million octets", 1000003, kStag,
      0x10000000F},
     {"rdmap.write.sent-high-to", "The target's TO may go up to the highest", 70000, kStag,
      0xFFFFFFFFFFFFFFFF - 70000},
     {"rdmap.write.sent-over-32-bits", "The target's TO has 64 bits", 70000, kStag, 0xFFFFFFFF},
     {"rdmap.write.sent-highest-stag", "The target's STag may be any", 100, 0xFFFFFFFF, 0}});

void writes_in_order(Context& context) {
  constexpr std::size_t kCount = 16, kSize = 5000;
  const Region region = context.agent().region(kSize, "local_write");
  context.agent().store(region, 0, pattern(kSize));
  Link link = talking_link(context);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    link.agent_end().write(i + 1, region, kSize - i, 0x1000 + i, 0x100000 * i);
  }
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const TaggedMessage sent = expect_tagged_message(link.stream, kWrite);
    context.expect_equal(sent.stag, 0x1000 + i, "STag of Write " + std::to_string(i));
    context.expect_equal(sent.to, 0x100000 * std::uint64_t{i}, "TO");
    context.expect_equal(sent.payload, pattern(kSize - i), "what the Write holds");
  }
  for (std::uint64_t i = 1; i <= kCount; ++i) context.expect_completion(link.agent_end(), i);
}

const Cases kSent{
    {"rdmap.write.sent-order", "The target's Writes leave and complete in order", Needs::kAgent,
     writes_in_order},
};

}  // namespace

Cases cases() { return joined({kReceived, kSizesSent, kSent}); }

}  // namespace iwarp::conform::rdmap_write
