#include "cases/rdma.hpp"

/// Terminates, received and sent, and how the stream ends with them (RFC 5040 §4.8, §5.4, §6.2).
namespace iwarp::conform::rdmap_terminate {
namespace {

Segment terminate_segment(Octets payload, std::uint32_t msn = 1) {
  return untagged_segment(kTerminate, kTerminateQueue, msn, 0, std::move(payload));
}

Segment terminate_segment(const Cause& cause) {
  return terminate_segment(encode(Terminate{.cause = cause}));
}

// The target ends the connection. Whether it says anything in return is its own choice.
void expect_ended(Stream& stream) { stream.expect_end(Stream::Before::kAnything); }

const Cause kEveryCause[] = {{0, 0, 0x00}, {0, 1, 0x00}, {0, 1, 0x01}, {0, 1, 0x02}, {0, 1, 0x03},
                             {0, 1, 0x04}, {0, 1, 0x09}, {0, 1, 0xFF}, {0, 2, 0x05}, {0, 2, 0x06},
                             {0, 2, 0x07}, {0, 2, 0x08}, {0, 2, 0x09}, {0, 2, 0xFF}, {1, 0, 0x00},
                             {1, 1, 0x00}, {1, 1, 0x01}, {1, 1, 0x02}, {1, 1, 0x03}, {1, 1, 0x04},
                             {1, 2, 0x01}, {1, 2, 0x02}, {1, 2, 0x03}, {1, 2, 0x04}, {1, 2, 0x05},
                             {1, 2, 0x06}, {2, 0, 0x01}, {2, 0, 0x02}, {2, 0, 0x03}, {2, 0, 0x04}};

void takes_every_cause(Context& context) {
  for (const Cause& cause : kEveryCause) {
    context.note(describe(cause));
    Link link = context.link();
    link.stream.send(terminate_segment(cause));
    expect_ended(link.stream);
  }
}

void tells_its_program(Context& context) {
  const Region region = context.agent().region(64, "local_write");
  Link link = link_with_receives(context, region, 2, 32);
  sync(link.stream);
  link.stream.send(terminate_segment(ddp_error::kNoBuffer));
  expect_ended(link.stream);
  link.stream.shut_down_sending();
  expect_disconnected(context, link.agent_end());
  expect_failed_completion(context, link.agent_end(), 1);
  expect_failed_completion(context, link.agent_end(), 2);
}

void gives_up_its_requests(Context& context) {
  context.need("read");
  const Region region = context.agent().region(64, "local_write,remote_write");
  Link link = talking_link(context);
  link.agent_end().read(1, region, 16, kWildStag, 0);
  link.agent_end().send(2, region, 0, 16);
  expect_read_request(link.stream);
  link.stream.send(terminate_segment(rdmap_error::kStreamCatastrophic));
  expect_failed_completion(context, link.agent_end(), 1);
  expect_ended(link.stream);
}

const Cases kReceived{
    {"rdmap.terminate.every-cause", "A Terminate of whatever cause ends the stream",
     Needs::kListener, takes_every_cause},
    {"rdmap.terminate.told", "The program learns of a Terminate; its receives are given back",
     Needs::kAgent, tells_its_program},
    {"rdmap.terminate.requests", "Requests that are outstanding complete in error", Needs::kAgent,
     gives_up_its_requests},
};

Octets with_headers(std::uint8_t bits, std::size_t behind) {
  Octets payload{0x01, 0x00, bits, 0x00};
  payload.resize(4 + behind, 0x80);
  return payload;
}

Octets plain() { return encode(Terminate{.cause = rdmap_error::kStreamCatastrophic}); }

Segment with_reserved_bits() {
  Segment segment =
      terminate_segment(encode(Terminate{.cause = ddp_error::kBounds, .reserved = 0x1FFF}));
  segment.invalidate_stag = kWildStag;
  return segment;
}

struct OddRow {
  std::string_view id, title;
  std::vector<Segment> segments;
};

// Even a Terminate that means nothing ends its stream. Other streams are not harmed.
void survives(Context& context, const OddRow& row) {
  Link link = context.link();
  link.stream.send_together(row.segments);
  expect_ended(link.stream);
  context.expect_target_alive();
}

const Cases kOdd =
    cases_of<OddRow>(Needs::kListener, survives,
                     {{"rdmap.terminate.reserved",
                       "Reserved bits and the Invalidate STag of a Terminate are ignored",
                       {with_reserved_bits()}},
                      {"rdmap.terminate.absurd",
                       "A Terminate of an unknown layer, type and code ends the stream",
                       {terminate_segment(Octets(64, 0xFF))}},
                      {"rdmap.terminate.empty",
                       "A Terminate without a header ends the stream",
                       {terminate_segment(Octets{})}},
                      {"rdmap.terminate.three-octets",
                       "A Terminate of three octets ends the stream",
                       {terminate_segment(Octets{0x12, 0x02, 0x00})}},
                      {"rdmap.terminate.no-length",
                       "A Terminate that lacks the length it announces ends the stream",
                       {terminate_segment(with_headers(0x80, 1))}},
                      {"rdmap.terminate.no-ddp-header",
                       "A Terminate that lacks the DDP Header it announces ends the stream",
                       {terminate_segment(with_headers(0xC0, 2 + kTaggedHeaderSize - 1))}},
                      {"rdmap.terminate.no-rdma-header",
                       "A Terminate that lacks the RDMA Header it announces ends the stream",
                       {terminate_segment(with_headers(0xE0, 2 + kTaggedHeaderSize + 27))}},
                      {"rdmap.terminate.headers-without-length",
                       "A Terminate with headers and no length ends the stream",
                       {terminate_segment(with_headers(0x60, 50))}},
                      {"rdmap.terminate.huge",
                       "A Terminate of 1400 octets ends the stream",
                       {terminate_segment(Octets(1400, 0x5A))}},
                      {"rdmap.terminate.segments", "A Terminate in two segments ends the stream",
                       cut_message(terminate_segment(plain()), 3)},
                      {"rdmap.terminate.msn-2",
                       "A Terminate with MSN 2 ends the stream",
                       {terminate_segment(plain(), 2)}},
                      {"rdmap.terminate.twice",
                       "A second Terminate changes nothing",
                       {terminate_segment(plain()), terminate_segment(plain(), 2)}},
                      {"rdmap.terminate.followed",
                       "What follows a Terminate changes nothing",
                       {terminate_segment(plain()), empty_write(), empty_read_request(1)}}});

// --- sent by the target ---

// An error of the tester's, for which the target must terminate.
Segment error() { return tagged_segment(kWrite, kWildStag, kWildTo, pattern(8)); }

// Messages that wait to be sent must not follow the Terminate.
void sends_nothing_behind_it(Context& context) {
  constexpr std::uint64_t kCount = 20;
  constexpr std::size_t kSize = 100000;
  const Region region = context.agent().region(kSize, "local_write");
  Link link = talking_link(context);
  for (std::uint64_t id = 1; id <= kCount; ++id) link.agent_end().send(id, region, 0, kSize);
  link.stream.send(error());
  link.stream.expect_terminate(ddp_error::kInvalidStag);
  link.stream.expect_end();
}

void sends_one_only(Context& context) {
  Link link = context.link();
  link.stream.send(error());
  link.stream.expect_terminate(ddp_error::kInvalidStag);
  link.stream.send(error());
  link.stream.send(empty_read_request(1));
  link.stream.send(terminate_segment(ddp_error::kNoBuffer));
  link.stream.expect_end();
}

// So that the Terminate is not lost on the way (RFC 5040 §6.2.1).
void closes_gracefully(Context& context) {
  Link link = context.link();
  link.stream.send(error());
  link.stream.expect_terminate(ddp_error::kInvalidStag);
  context.expect(link.stream.expect_end() == Tcp::Got::kFin, "a graceful end (FIN)", "a reset");
}

// Octets that the target has not read must not make its system reset the connection over it.
void delivers_it_in_spite_of_more(Context& context) {
  Link link = context.link();
  std::vector<Segment> segments{error()};
  for (int i = 0; i < 200; ++i) {
    segments.push_back(tagged_segment(kWrite, kWildStag, kWildTo, pattern(1000)));
  }
  link.stream.send_together(segments);
  link.stream.expect_terminate(ddp_error::kInvalidStag);
}

void tells_its_program_of_its_own(Context& context) {
  context.need("read");
  const Region region = context.agent().region(64, "local_write,remote_write");
  Link link = link_with_receives(context, region, 1, 32);
  sync(link.stream);
  link.agent_end().read(100, region, 16, kWildStag, 0);
  expect_read_request(link.stream);
  link.stream.send(error());
  expect_terminated(link.stream, {ddp_error::kInvalidStag});
  link.stream.shut_down_sending();
  expect_disconnected(context, link.agent_end());
  for (int i = 0; i < 2; ++i) {
    const auto completion = link.agent_end().completion(context.limits().timeout);
    context.expect(completion && completion->status != "success",
                   "the receive and the Read complete in error",
                   completion ? "status " + completion->status : "no completion");
  }
}

// RFC 5044 §8, RFC 5040 §6.2.1: RDMAP terminates for errors of the LLP, too.
void terminates_for_an_llp_error(Context& context) {
  Link link = context.link();
  if (!link.stream.sending().crc) throw Skipped("the connection is without CRC");
  sync(link.stream);  // a stream that never had a right FPDU may end without a word
  link.stream.send(empty_write(), {.crc_xor = 0x01000000});
  expect_terminated(link.stream, {{kLayerMpa, 0, 0x02}});
}

// The program is told of a graceful end, and its own half ends gracefully, too.
void ends_with_the_peer(Context& context) {
  Link link = talking_link(context);
  link.stream.shut_down_sending();
  std::string event = link.agent_end().event(context.limits().timeout);
  if (event == "established") event = link.agent_end().event(context.limits().timeout);
  context.expect(event == "disconnected", "event disconnected", "event " + event);
  try {
    link.agent_end().disconnect();
  } catch (const AgentError& error) {
    context.note(error.what());  // its stack has done so already
  }
  context.expect(link.stream.expect_end() == Tcp::Got::kFin, "a graceful end (FIN)", "a reset");
}

const Cases kSent{
    {"rdmap.terminate.sent-last", "Nothing follows the target's Terminate", Needs::kAgent,
     sends_nothing_behind_it},
    {"rdmap.terminate.sent-once", "The target terminates once", Needs::kListener, sends_one_only},
    {"rdmap.terminate.sent-graceful", "The target ends the connection by FIN behind its Terminate",
     Needs::kListener, closes_gracefully},
    {"rdmap.terminate.sent-arrives",
     "The target's Terminate arrives though the peer goes on sending", Needs::kListener,
     delivers_it_in_spite_of_more},
    {"rdmap.terminate.sent-told", "The program learns of the target's own Terminate", Needs::kAgent,
     tells_its_program_of_its_own},
    {"rdmap.terminate.sent-llp", "A CRC error is answered with a Terminate", Needs::kListener,
     terminates_for_an_llp_error},
    {"rdmap.terminate.graceful-end", "A graceful end of the peer ends the connection",
     Needs::kAgent, ends_with_the_peer},
};

}  // namespace

Cases cases() { return joined({kReceived, kOdd, kSent}); }

}  // namespace iwarp::conform::rdmap_terminate
