#include <algorithm>
#include <map>
#include <set>

#include "cases/rdma.hpp"

/// What protects the target's memory and its other streams (RFC 5042 §6, RFC 5040 §8.1).
namespace iwarp::conform::rdmap_security {
namespace {

constexpr std::size_t kSize = 64;
constexpr const char* kOpen = "local_write,remote_write,remote_read";

std::vector<std::uint32_t> stags_of_regions(Context& context, std::size_t count) {
  std::vector<std::uint32_t> stags;
  for (std::size_t i = 0; i < count; ++i) {
    stags.push_back(context.agent().region(kSize, kOpen).stag);
  }
  return stags;
}

void makes_distinct_stags(Context& context) {
  const auto stags = stags_of_regions(context, 64);
  const std::set<std::uint32_t> distinct(stags.begin(), stags.end());
  context.expect_equal(distinct.size(), stags.size(), "distinct STags of 64 regions");
}

// A peer that knows one STag, and the step from one to the next, knows all of them.
void makes_stags_hard_to_predict(Context& context) {
  const auto stags = stags_of_regions(context, 64);
  std::map<std::uint32_t, int> steps;
  int most = 0;
  for (std::size_t i = 1; i < stags.size(); ++i) {
    most = std::max(most, ++steps[(stags[i] >> 8) - (stags[i - 1] >> 8)]);
  }
  context.expect(most <= 8, "no step from one STag to the next that is taken again and again",
                 "one that was taken " + std::to_string(most) + " times of 63");
}

void spreads_stags(Context& context) {
  const auto stags = stags_of_regions(context, 64);
  std::set<std::uint32_t> high_octets;
  for (const std::uint32_t stag : stags) high_octets.insert(stag >> 24);
  context.expect(high_octets.size() >= 16, "STags with at least 16 different high octets among 64",
                 std::to_string(high_octets.size()));
}

// What a peer has kept of an earlier region must not open the next one. More than the few hundred
// that a stack may put aside, each with a few keys; where all of 24 bits are drawn at random, one
// or two come again by chance.
void does_not_reuse_stags_at_once(Context& context) {
  constexpr int kRegions = 4096;
  constexpr int kByChance = 5;
  std::set<std::uint32_t> seen;
  int again = 0;
  for (int i = 0; i < kRegions; ++i) {
    const Region region = context.agent().region(kSize, kOpen);
    if (!seen.insert(region.stag).second) ++again;
    context.agent().deregister(region);
  }
  context.expect(again <= kByChance, "STags that no earlier region had",
                 std::to_string(again) + " of " + std::to_string(kRegions) + " again");
}

void resists_guesses(Context& context) {
  const Region region = context.agent().region(kSize, kOpen);
  for (std::uint32_t i = 0; i < 32; ++i) {
    Link link = context.link();
    link.stream.write(region.stag ^ (1U << i), region.address, pattern(8));
    expect_terminated(link.stream, {ddp_error::kInvalidStag});
  }
  context.expect_untouched(region);
}

// A window ends with its stream; the next connection does not find it open.
void ends_windows_with_their_stream(Context& context) {
  context.need("window");
  const Region region = context.agent().region(kSize, kOpen);
  std::uint32_t stag = 0;
  {
    Link link = talking_link(context);
    stag = link.agent_end().window(region, 0, kSize, "remote_write");
    link.stream.reset();
    expect_disconnected(context, link.agent_end());
    link.agent_end().close();
  }
  Link next = context.link();
  next.stream.write(stag, region.address, pattern(8));
  expect_terminated(next.stream, {ddp_error::kInvalidStag, ddp_error::kNotAssociated});
  context.expect_untouched(region);
}

// What takes the place of a region does not open the windows that were bound to it.
void ends_windows_with_their_region(Context& context) {
  context.need("window");
  const Region region = context.agent().region(kSize, kOpen);
  Link link = talking_link(context);
  const std::uint32_t stag = link.agent_end().window(region, 0, kSize, "remote_write");
  link.stream.write(stag, region.address, pattern(8));
  sync(link.stream);
  context.agent().deregister(region);
  std::vector<Region> next;
  for (int i = 0; i < 8; ++i) next.push_back(context.agent().region(kSize, kOpen));
  link.stream.write(stag, region.address, pattern(8, 2));
  expect_terminated(link.stream, {ddp_error::kInvalidStag});
  for (const Region& each : next) context.expect_untouched(each);
}

// Access is taken back between two segments of one Write.
void revokes_in_the_middle_of_a_write(Context& context) {
  const Region region = context.agent().region(kSize, kOpen);
  Link link = context.link();
  const auto segments =
      cut_message(tagged_segment(kWrite, region.stag, region.address, pattern(kSize)), kSize / 2);
  link.stream.send(segments[0]);
  const auto deadline = Clock::now() + context.limits().timeout;
  const Octets placed(segments[0].payload);
  while (context.agent().fetch(region, 0, placed.size()) != placed) {
    context.expect(Clock::now() < deadline, "the first segment is placed", "it is not");
  }
  context.agent().deregister(region);
  link.stream.send(segments[1]);
  expect_terminated(link.stream, {ddp_error::kInvalidStag});
}

// One stream has all Reads that it may have, and they cannot be answered.
void keeps_reads_apart(Context& context) {
  constexpr std::uint16_t kDepth = 4;
  constexpr std::uint32_t kLong = 16 << 20;  // more than sockets take
  const Region region = context.agent().region(kLong, kOpen);
  StartupFrame request = context.request();
  if (request.enhanced) request.enhanced->ord = kDepth;
  const LinkOptions options{.request = request, .accept = "ird=4"};
  Link greedy = context.link(options);
  for (std::uint32_t i = 0; i < kDepth; ++i) {
    greedy.stream.send_read_request(
        {.size = kLong, .source_stag = region.stag, .source_to = region.address});
  }
  Link other = context.link(options);
  for (std::uint32_t i = 0; i < kDepth; ++i) {
    other.stream.send_read_request(
        {.size = 1000, .source_stag = region.stag, .source_to = region.address});
  }
  for (std::uint32_t i = 0; i < kDepth; ++i) {
    context.expect_equal(expect_tagged_message(other.stream, kReadResponse).payload.size(), 1000,
                         "octets of a Read Response");
  }
}

const Cases kNamesAndStreams{
    {"rdmap.security.stags-distinct", "No two regions share an STag", Needs::kAgent,
     makes_distinct_stags},
    {"rdmap.security.stags-unpredictable", "STags do not follow from each other", Needs::kAgent,
     makes_stags_hard_to_predict},
    {"rdmap.security.stags-sparse", "STags are spread over their range", Needs::kAgent,
     spreads_stags},
    {"rdmap.security.stags-not-reused", "An STag that has ended is not given out again at once",
     Needs::kAgent, does_not_reuse_stags_at_once},
    {"rdmap.security.guesses", "An STag with any bit wrong opens nothing", Needs::kAgent,
     resists_guesses},
    {"rdmap.security.window-outlived", "A window ends with the stream that it was bound to",
     Needs::kAgent, ends_windows_with_their_stream},
    {"rdmap.security.window-of-a-region", "A window ends with the region that it is on",
     Needs::kAgent, ends_windows_with_their_region},
    {"rdmap.security.revoked-midway", "Access that is taken back ends within a Write",
     Needs::kAgent, revokes_in_the_middle_of_a_write},
    {"rdmap.security.reads-apart", "Reads of one stream take no room of another's", Needs::kAgent,
     keeps_reads_apart},
};

struct DeathRow {
  std::string_view id, title;
  std::function<void(Stream&)> die;
};

// The one has a message half received and a Read outstanding while the other dies.
void keeps_streams_apart(Context& context, const DeathRow& row) {
  context.need("read");
  const Region memory = context.agent().region(kSize, kOpen);
  const Region received = context.agent().region(kSize, "local_write");
  Link living = link_with_receives(context, received, 1, kSize);
  sync(living.stream);
  living.agent_end().read(100, memory, kSize, kWildStag, 0);
  const ReceivedRead read = expect_read_request(living.stream);
  const auto segments =
      cut_message(untagged_segment(kSend, kSendQueue, 1, 0, pattern(kSize, 2)), kSize / 2);
  living.stream.send(segments[0]);

  Link dying = talking_link(context);
  dying.stream.write(memory.stag, memory.address, pattern(8));
  row.die(dying.stream);
  expect_disconnected(context, dying.agent_end());

  living.stream.send(segments[1]);
  context.expect_completion(living.agent_end(), 1);
  context.expect_memory(received, 0, pattern(kSize, 2));
  living.stream.send(tagged_segment(kReadResponse, read.request.sink_stag, read.request.sink_to,
                                    pattern(kSize, 3)));
  context.expect_completion(living.agent_end(), 100);
  context.expect_equal(read_from(living.stream, memory.stag, memory.address, kSize),
                       pattern(kSize, 3), "the memory, through the stream that lives");
}

const Cases kDeaths = cases_of<DeathRow>(
    Needs::kAgent, keeps_streams_apart,
    {{"rdmap.security.others-survive-reset", "A reset harms no other stream",
      [](Stream& stream) { stream.reset(); }},
     {"rdmap.security.others-survive-cut", "A stream cut within an FPDU harms no other",
      [](Stream& stream) {
        const Octets wire = stream.frame(tagged_segment(kWrite, kWildStag, kWildTo, pattern(99)));
        stream.send_octets(OctetView(wire).first(50));
        stream.shut_down_sending();
      }},
     {"rdmap.security.others-survive-error", "An error of one stream harms no other",
      [](Stream& stream) {
        stream.write(kWildStag, kWildTo, pattern(8));
        expect_terminated(stream, {ddp_error::kInvalidStag});
        stream.close();
      }},
     {"rdmap.security.others-survive-terminate", "A Terminate on one stream harms no other",
      [](Stream& stream) {
        stream.send(
            untagged_segment(kTerminate, kTerminateQueue, 1, 0,
                             encode(Terminate{.cause = {kLayerRdmap, 2, 0x08}})));  // "global"
        stream.expect_end(Stream::Before::kAnything);
        stream.close();
      }}});

}  // namespace

Cases cases() { return joined({kNamesAndStreams, kDeaths}); }

}  // namespace iwarp::conform::rdmap_security
