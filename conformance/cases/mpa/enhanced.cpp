#include "cases/catalogue.hpp"
#include "cases/mpa/support.hpp"

/// The target as responder to enhanced Requests: IRD, ORD and peer-to-peer (RFC 6581 §9).
namespace iwarp::conform::mpa_enhanced {
namespace {

constexpr Rtr kKinds[] = {Rtr::kSend, Rtr::kWrite, Rtr::kRead};
constexpr std::size_t kMostReads = 16;  // at once, that a case sends

const EnhancedData& data_of(const StartupFrame& reply) { return *reply.enhanced; }

// The Reply to an enhanced Request, sound and accepting.
Link enhanced_link(Context& context, const LinkOptions& options) {
  Link link = context.link(options);
  expect_sound(context, link.reply, true);
  context.expect(link.reply.says_enhanced(), "S in the Reply, as in the Request", "none");
  return link;
}

// --- S ---

void answers_s_alike(Context& context) {
  Link link = enhanced_link(context, {.request = enhanced_request(context)});
  expect_traffic(context, link);
}

void answers_without_s(Context& context) {
  if (context.revision() < 2) throw Skipped("the run is of revision 1");
  Link link = context.link({.request = plain_request(context, 2)});
  expect_sound(context, link.reply, true);
  context.expect(!link.reply.says_enhanced(), "no S in the Reply, as in the Request", "S");
  expect_traffic(context, link);
}

// In revision 1 the flag is a reserved one, and what looks like enhanced data is the program's.
void ignores_s_in_revision_1(Context& context) {
  context.listen();
  StartupFrame request = plain_request(context);
  request.flags |= kFlagEnhanced;
  request.private_data = {0xC0, 0x03, 0xC0, 0x05, 0x11, 0x22};
  Stream stream = context.dial();
  stream.send(request);
  Answer asked;
  Endpoint endpoint = context.await_endpoint(&asked);
  context.expect_equal(asked.octets("private"), request.private_data,
                       "all of the Private Data is the program's");
  endpoint.accept();
  const StartupFrame reply = stream.expect_reply();
  expect_sound(context, reply, true);
  context.expect_equal(reply.revision, 1, "revision of the Reply");
}

struct Truncated {
  std::string_view id, title;
  std::size_t octets;  ///< Of the four.
};

void refuses_truncated(Context& context, const Truncated& row) {
  StartupFrame request = enhanced_request(context);
  request.enhanced.reset();
  request.private_data = Octets(row.octets);
  context.listen();
  Stream stream = context.dial();
  stream.send(request);
  expect_no_connection(context, stream);
  expect_service(context);
}

const Cases kTruncated = cases_of<Truncated>(
    Needs::kListener, refuses_truncated,
    {{"mpa.enhanced.data-missing", "A Request with S and without Private Data is refused", 0},
     {"mpa.enhanced.data-cut", "A Request with S and 3 octets of Private Data is refused", 3}});

void rejects_enhanced(Context& context) {
  context.listen();
  Stream stream = context.dial();
  stream.send(context.peer_to_peer_request());
  context.await_endpoint().reject();
  const StartupFrame reply = stream.expect_reply();
  expect_sound(context, reply, true);
  context.expect(reply.rejected() && reply.says_enhanced(), "R and S in the Reply",
                 "flags " + hex_number(reply.flags, 2));
  context.expect(data_of(reply).peer_to_peer, "A, as in the Request", "none");
}

const Cases kFrames{
    {"mpa.enhanced.reply", "A Request with S is answered with S and the enhanced data",
     Needs::kListener, answers_s_alike},
    {"mpa.enhanced.plain-reply", "A Request of revision 2 without S is answered without S",
     Needs::kListener, answers_without_s},
    {"mpa.enhanced.s-in-revision-1", "S in a Request of revision 1 is ignored", Needs::kAgent,
     ignores_s_in_revision_1},
    {"mpa.enhanced.rejection", "The rejection of an enhanced Request is enhanced, too",
     Needs::kAgent, rejects_enhanced},
};

// --- IRD and ORD ---

struct Depths {
  std::string_view id, title;
  std::uint16_t ird, ord;
};

// An IRD below the Request's ORD is legal: the initiator then lowers its ORD.
void keeps_to_depths(Context& context, const Depths& row) {
  Link link = enhanced_link(context, {.request = enhanced_request(context, row.ird, row.ord)});
  const EnhancedData& data = data_of(link.reply);
  context.expect(data.ord <= row.ird, "an ORD of at most " + std::to_string(row.ird),
                 std::to_string(data.ord));
  context.expect(data.ird != kDepthNotStated, "a stated IRD", "0x3FFF");
  expect_traffic(context, link);
}

const Cases kDepths = cases_of<Depths>(
    Needs::kListener, keeps_to_depths,
    {{"mpa.enhanced.depths-0-0", "To an IRD of 0 the Reply has an ORD of 0", 0, 0},
     {"mpa.enhanced.depths-1-1", "The ORD of a Reply is at most the Request's IRD of 1", 1, 1},
     {"mpa.enhanced.depths-2-9", "The ORD of a Reply is at most the Request's IRD of 2", 2, 9},
     {"mpa.enhanced.depths-9-2", "The ORD of a Reply is at most the Request's IRD of 9", 9, 2}});

// An initiator that wants more Reads than the target serves gets less, or a rejection that says how
// many the target serves.
void meets_a_greedy_ord(Context& context) {
  constexpr std::uint16_t kGreedy = kDepthNotStated - 1;
  context.listen();
  Stream stream = context.dial();
  stream.send(enhanced_request(context, 16, kGreedy));
  accept_if_asked(context);
  const StartupFrame reply = stream.expect_reply();
  expect_sound(context, reply, true);
  context.expect(reply.says_enhanced(), "S in the Reply, as in the Request", "none");
  if (reply.rejected()) expect_nothing_more(stream);
}

struct Unstated {
  std::string_view id, title;
  std::uint16_t ird, ord;
};

void leaves_unstated(Context& context, const Unstated& row) {
  Link link = enhanced_link(context, {.request = enhanced_request(context, row.ird, row.ord)});
  const EnhancedData& data = data_of(link.reply);
  if (row.ord == kDepthNotStated) {
    context.expect_equal(data.ird, kDepthNotStated, "IRD of the Reply");
  }
  if (row.ird == kDepthNotStated) {
    context.expect_equal(data.ord, kDepthNotStated, "ORD of the Reply");
  } else {
    context.expect(data.ord <= row.ird, "an ORD of at most " + std::to_string(row.ird),
                   std::to_string(data.ord));
  }
  expect_traffic(context, link);
}

const Cases kUnstated = cases_of<Unstated>(
    Needs::kListener, leaves_unstated,
    {{"mpa.enhanced.unstated-ord", "An ORD of 0x3FFF is answered by an IRD of 0x3FFF", 5,
      kDepthNotStated},
     {"mpa.enhanced.unstated-ird", "An IRD of 0x3FFF is answered by an ORD of 0x3FFF",
      kDepthNotStated, 5},
     {"mpa.enhanced.unstated-both", "Two times 0x3FFF are answered by two times 0x3FFF",
      kDepthNotStated, kDepthNotStated}});

void tells_the_program_the_depths(Context& context) {
  context.listen();
  Stream stream = context.dial();
  stream.send(enhanced_request(context, 3, 5));
  Answer asked;
  context.await_endpoint(&asked);
  context.expect_equal(asked.number("ird"), 3, "IRD that the program is told");
  context.expect_equal(asked.number("ord"), 5, "ORD that the program is told");
}

// As many Reads at once as the target has said it has room for; empty ones need no memory.
void serves_its_ird(Context& context) {
  Link link = enhanced_link(context, {.request = enhanced_request(context)});
  const std::size_t reads = std::min<std::size_t>(data_of(link.reply).ird, kMostReads);
  if (reads == 0) throw Skipped("the target serves no Reads");
  expect_empty_reads(context, link.stream, reads);
}

// The tester has said that it serves so many Reads and no more.
void keeps_reads_within(Context& context, std::uint16_t ird, const std::string& accept) {
  context.need("read");
  Link link =
      enhanced_link(context, {.request = enhanced_request(context, ird, 16), .accept = accept});
  const auto depth = std::min(ird, data_of(link.reply).ord);
  if (depth == 0) throw Skipped("the target issues no Reads");
  link.stream.write(0, 0, {});  // so that a responder may send
  expect_reads_at_once(context, link, depth);
}

const Cases kKeptDepths{
    {"mpa.enhanced.greedy-ord", "An ORD beyond all bounds is answered by a lower IRD or R",
     Needs::kListener, meets_a_greedy_ord},
    {"mpa.enhanced.told-depths", "The program is told the Request's IRD and ORD", Needs::kAgent,
     tells_the_program_the_depths},
    {"mpa.enhanced.ird-served", "A responder serves as many Reads at once as its Reply says",
     Needs::kListener, serves_its_ird},
    {"mpa.enhanced.reads-within-ird-1", "A responder has one Read under way at an IRD of 1",
     Needs::kAgent, [](Context& context) { keeps_reads_within(context, 1, ""); }},
    {"mpa.enhanced.reads-within-ird-3", "A responder has three Reads under way at an IRD of 3",
     Needs::kAgent, [](Context& context) { keeps_reads_within(context, 3, "ord=16"); }},
};

// --- peer-to-peer ---

void repeats_client_server(Context& context) {
  Link link = enhanced_link(context, {.request = enhanced_request(context)});
  context.expect(!data_of(link.reply).peer_to_peer, "no A in the Reply, as in the Request", "A");
}

void ignores_flags_without_a(Context& context) {
  StartupFrame request = enhanced_request(context);
  request.enhanced->send_rtr = request.enhanced->write_rtr = request.enhanced->read_rtr = true;
  Link link = enhanced_link(context, {.request = request});
  context.expect(!data_of(link.reply).peer_to_peer, "no A in the Reply, as in the Request", "A");
  expect_traffic(context, link);
}

struct Offer {
  std::string_view id, title;
  bool send, write, read;  ///< B, C, D.
};

StartupFrame offering(const Context& context, bool send, bool write, bool read) {
  StartupFrame request = context.peer_to_peer_request();
  request.enhanced->send_rtr = send;
  request.enhanced->write_rtr = write;
  request.enhanced->read_rtr = read;
  return request;
}

// Gives the first indication that both ends know, or else one of the Reply's own.
Rtr give_rtr(Context& context, Link& link, const EnhancedData& asked) {
  for (const bool common : {true, false}) {
    for (const Rtr kind : kKinds) {
      if (!offers(data_of(link.reply), kind) || (common && !offers(asked, kind))) continue;
      send_rtr(link.stream, kind);
      return kind;
    }
  }
  context.expect(false, "B, C or D in the Reply", "none");
  return Rtr::kWrite;
}

void answers_offer(Context& context, const Offer& row) {
  const StartupFrame request = offering(context, row.send, row.write, row.read);
  Link link = enhanced_link(context, {.request = request});
  context.expect(data_of(link.reply).peer_to_peer, "A in the Reply, as in the Request", "none");
  give_rtr(context, link, *request.enhanced);
  if (link.endpoint) context.expect_event(link.agent_end(), {"established"});
  expect_traffic(context, link);
}

const Cases kOffers = cases_of<Offer>(
    Needs::kListener, answers_offer,
    {{"mpa.enhanced.offer-all", "To A with B, C and D the Reply has A and an RTR", true, true,
      true},
     {"mpa.enhanced.offer-send", "To A with B the Reply has A and an RTR", true, false, false},
     {"mpa.enhanced.offer-write", "To A with C the Reply has A and an RTR", false, true, false},
     {"mpa.enhanced.offer-read", "To A with D the Reply has A and an RTR", false, false, true},
     {"mpa.enhanced.offer-send-write", "To A with B and C the Reply has A and an RTR", true, true,
      false},
     {"mpa.enhanced.offer-send-read", "To A with B and D the Reply has A and an RTR", true, false,
      true},
     {"mpa.enhanced.offer-write-read", "To A with C and D the Reply has A and an RTR", false, true,
      true},
     {"mpa.enhanced.offer-none", "To A without B, C and D the Reply has A and an RTR of its own",
      false, false, false}});

// What a Reply to everything admits is in the Reply to that alone, too.
void repeats_what_it_supports(Context& context) {
  const StartupFrame everything = offering(context, true, true, true);
  Link all = enhanced_link(context, {.request = everything});
  give_rtr(context, all, *everything.enhanced);
  for (const Rtr kind : kKinds) {
    if (!offers(data_of(all.reply), kind)) continue;
    const StartupFrame request =
        offering(context, kind == Rtr::kSend, kind == Rtr::kWrite, kind == Rtr::kRead);
    Link one = enhanced_link(context, {.request = request});
    context.expect(offers(data_of(one.reply), kind), "the flag of an " + name_of(kind),
                   "another RTR");
    give_rtr(context, one, *request.enhanced);
  }
}

struct Indication {
  std::string_view id, title;
  Rtr kind;
};

// The initiator has no use for Reads but this one, for which a responder that offers it has room.
void takes_a_read_at_ord_0(Context& context) {
  StartupFrame request = offering(context, false, false, true);
  request.enhanced->ord = 0;
  Link link = enhanced_link(context, {.request = request});
  if (!offers(data_of(link.reply), Rtr::kRead)) {
    throw Skipped("the target takes no empty RDMA Read as RTR");
  }
  context.expect(data_of(link.reply).ird >= 1, "an IRD of at least 1", "0");
  send_rtr(link.stream, Rtr::kRead);
  if (link.endpoint) context.expect_event(link.agent_end(), {"established"});
}

// The posted receive is for the message behind the indication.
struct PeerLink {
  Region sink;
  Link link;
};

PeerLink peer_link(Context& context, Rtr kind) {
  const Region sink = context.agent().region(64, "local_write");
  const StartupFrame request =
      offering(context, kind == Rtr::kSend, kind == Rtr::kWrite, kind == Rtr::kRead);
  Link link = enhanced_link(context, {.request = request, .prepare = [&](Endpoint& endpoint) {
                                        endpoint.receive(1, sink, 0, sink.size);
                                      }});
  if (!offers(data_of(link.reply), kind)) {
    throw Skipped("the target takes no " + name_of(kind) + " as RTR");
  }
  return {sink, std::move(link)};
}

void takes_rtr(Context& context, const Indication& row) {
  auto [sink, link] = peer_link(context, row.kind);
  send_rtr(link.stream, row.kind);
  context.expect_event(link.agent_end(), {"established"});
  context.expect_no_completion(link.agent_end());
  const Octets message = pattern(40);
  link.stream.send_message(message);
  context.expect_completion(link.agent_end(), 1);
  context.expect_memory(sink, 0, message);
  expect_traffic(context, link);
}

const Cases kIndications = cases_of<Indication>(
    Needs::kAgent, takes_rtr,
    {{"mpa.enhanced.rtr-send", "An empty Send as RTR uses no receive and completes nothing",
      Rtr::kSend},
     {"mpa.enhanced.rtr-write", "An empty RDMA Write as RTR completes nothing", Rtr::kWrite},
     {"mpa.enhanced.rtr-read", "An empty RDMA Read as RTR is answered and completes nothing",
      Rtr::kRead}});

void takes_data_behind_rtr(Context& context) {
  auto [sink, link] = peer_link(context, Rtr::kWrite);
  const Octets message = pattern(40);
  Octets both = link.stream.frame(tagged_segment(kWrite, 0, 0, {}));
  put(both, link.stream.frame(untagged_segment(kSend, kSendQueue, 1, 0, message)));
  link.stream.send_octets(both);
  context.expect_completion(link.agent_end(), 1);
  context.expect_memory(sink, 0, message);
}

void waits_for_rtr(Context& context) {
  auto [sink, link] = peer_link(context, Rtr::kWrite);
  const Octets message = pattern(30);
  post_send(context, link.agent_end(), message, 2);
  link.stream.expect_quiet("a responder sends nothing before the RTR");
  send_rtr(link.stream, Rtr::kWrite);
  context.expect_equal(expect_message(link.stream), message, "what was held back follows");
}

const Cases kPeerToPeer{
    {"mpa.enhanced.client-server", "The Reply to a Request without A is without A, B, C and D",
     Needs::kListener, repeats_client_server},
    {"mpa.enhanced.flags-without-a", "B, C and D without A are ignored", Needs::kListener,
     ignores_flags_without_a},
    {"mpa.enhanced.offer-repeated", "A Reply has the flags of what both ends support",
     Needs::kListener, repeats_what_it_supports},
    {"mpa.enhanced.data-behind-rtr", "Data may follow the RTR in the same TCP segment",
     Needs::kAgent, takes_data_behind_rtr},
    {"mpa.enhanced.rtr-read-ord-0", "An empty Read as RTR finds room at an ORD of 0, too",
     Needs::kListener, takes_a_read_at_ord_0},
    {"mpa.enhanced.waits-for-rtr", "A responder sends no FPDU before the RTR", Needs::kAgent,
     waits_for_rtr},
};

}  // namespace

Cases cases() {
  return joined(
      {kFrames, kKeptDepths, kPeerToPeer, kTruncated, kDepths, kUnstated, kOffers, kIndications});
}

}  // namespace iwarp::conform::mpa_enhanced
