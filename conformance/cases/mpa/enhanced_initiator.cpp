#include "cases/catalogue.hpp"
#include "cases/mpa/support.hpp"

/// The target as initiator of enhanced connections: its Request, and how it takes the answer
/// (RFC 6581 §9).
namespace iwarp::conform::mpa_enhanced_initiator {
namespace {

const EnhancedData& data_of(const StartupFrame& frame) { return *frame.enhanced; }

// A call with an enhanced Request.
Context::Call enhanced_call(Context& context, const std::string& dial = {},
                            const std::string& connect = {}) {
  if (context.revision() < 2) throw Skipped("the run is of revision 1");
  Context::Call call = context.call(dial, connect);
  expect_sound(context, call.request, false);
  if (!call.request.says_enhanced()) throw Skipped("the target's Requests are not enhanced");
  return call;
}

// One that asks for peer-to-peer.
Context::Call peer_call(Context& context) {
  Context::Call call = enhanced_call(context, context.agent().has("mpa") ? "p2p=1" : "");
  if (!data_of(call.request).peer_to_peer)
    throw Skipped("the target does not ask for peer-to-peer");
  return call;
}

// --- the Request ---

void asks_for_peer_to_peer(Context& context) {
  context.need("mpa");
  const Context::Call call = enhanced_call(context, "p2p=1");
  const EnhancedData& data = data_of(call.request);
  context.expect(data.peer_to_peer, "A in the Request", "none");
  context.expect(data.send_rtr || data.write_rtr || data.read_rtr, "B, C or D in the Request",
                 "none");
}

void asks_for_client_server(Context& context) {
  context.need("mpa");
  Context::Call call = enhanced_call(context, "p2p=0");
  context.expect(!data_of(call.request).peer_to_peer, "no A in the Request", "A");
  Link link = establish(context, std::move(call));
  link.stream.expect_quiet("no RTR without A");
  expect_traffic(context, link);
}

void asks_unenhanced(Context& context) {
  context.need("mpa");
  Context::Call call = context.call("revision=1");
  expect_sound(context, call.request, false);
  context.expect(!call.request.says_enhanced(), "no S in the Request", "S");
  Link link = establish(context, std::move(call));
  expect_traffic(context, link);
}

void states_its_depths(Context& context) {
  const Context::Call call = enhanced_call(context, {}, "ird=3 ord=5");
  context.expect_equal(data_of(call.request).ird, 3, "IRD of the Request");
  context.expect_equal(data_of(call.request).ord, 5, "ORD of the Request");
}

const Cases kRequests{
    {"mpa.enhanced.request-peer-to-peer", "A peer-to-peer Request has A and the RTRs it can give",
     Needs::kAgent, asks_for_peer_to_peer},
    {"mpa.enhanced.request-client-server",
     "A client-server Request has neither A nor B, C and D, and no RTR follows", Needs::kAgent,
     asks_for_client_server},
    {"mpa.enhanced.request-plain",
     "An initiator that wants nothing enhanced sends a Request without S", Needs::kAgent,
     asks_unenhanced},
    {"mpa.enhanced.request-depths", "A Request states the program's IRD and ORD", Needs::kAgent,
     states_its_depths},
};

// --- improper Replies ---

struct Improper {
  std::string_view id, title;
  void (*spoil)(StartupFrame& reply);
};

void without_s(StartupFrame& reply) {
  reply.flags &= static_cast<std::uint8_t>(~kFlagEnhanced);
  reply.enhanced.reset();
}

void refuses(Context& context, const Improper& row) {
  Context::Call call = enhanced_call(context);
  StartupFrame reply = context.reply_to(call.request);
  row.spoil(reply);
  call.stream.send(reply);
  expect_failed_call(context, call);
}

const Cases kImproper = cases_of<Improper>(
    Needs::kAgent, refuses,
    {{"mpa.enhanced.reply-without-s", "A Reply without S to a Request with S is refused",
      without_s},
     {"mpa.enhanced.reply-of-revision-1", "A Reply of revision 1 to a Request with S is refused",
      [](StartupFrame& reply) {
        without_s(reply);
        reply.revision = 1;
      }},
     {"mpa.enhanced.reply-data-missing", "A Reply with S and without Private Data is refused",
      [](StartupFrame& reply) { reply.enhanced.reset(); }},
     {"mpa.enhanced.reply-data-cut", "A Reply with S and 3 octets of Private Data is refused",
      [](StartupFrame& reply) {
        reply.enhanced.reset();
        reply.private_data = Octets(3);
      }}});

// --- IRD and ORD of the Reply ---

// A Reply with this IRD, to a Request with ORD 4, leads to so many Reads under way.
void reads_at_once(Context& context, std::uint16_t ird, std::size_t depth) {
  context.need("read");
  Context::Call call = enhanced_call(context, {}, "ird=4 ord=4");
  if (data_of(call.request).ord < depth) throw Skipped("the target issues too few Reads");
  StartupFrame reply = context.reply_to(call.request);
  reply.enhanced->ird = ird;
  Link link = establish(context, std::move(call), reply);
  expect_reads_at_once(context, link, depth);
}

// The RTR, or a Terminate that says why there is none; in the client-server model the end of the
// matter shows in the event.
bool goes_on(Context& context, Link& link, const EnhancedData& sent, const Cause& excuse) {
  if (sent.peer_to_peer) {
    const Segment first = link.stream.expect_segment("the RTR, or a Terminate");
    if (first.opcode() != kTerminate) {
      if (first.opcode() == kReadRequest) answer_read(link.stream, first);
      context.expect_event(link.agent_end(), {"established"});
      return true;
    }
    const auto terminate = parse_terminate(first.payload);
    context.expect(terminate && terminate->cause == excuse, "a Terminate: " + describe(excuse),
                   describe(first));
  } else {
    const Answer answer =
        context.expect_event(link.agent_end(), {"established", "failed", "rejected"});
    if (answer.text("event") == "established") return true;
    link.stream.expect_terminate(excuse);
  }
  link.stream.expect_end();
  return false;
}

// The responder is going to have more Reads under way than the initiator has said it can serve.
void raises_ird_or_gives_up(Context& context, std::uint16_t ord, std::size_t reads) {
  Context::Call call = enhanced_call(context, {}, "ird=1 ord=1");
  StartupFrame reply = context.reply_to(call.request);
  reply.enhanced->ord = ord;
  Link link = context.answer(std::move(call), reply);
  if (!goes_on(context, link, *reply.enhanced, kInsufficientIrd)) {
    if (reply.enhanced->peer_to_peer) {
      context.expect_event(link.agent_end(), {"failed", "rejected", "disconnected"});
    }
    return;
  }
  if (!reply.enhanced->peer_to_peer) {  // a responder waits for the first FPDU
    post_send(context, link.agent_end(), pattern(8), 1);
    expect_message(link.stream);
  }
  expect_empty_reads(context, link.stream, reads);
}

void takes_an_unstated_ord(Context& context) {
  Context::Call call = enhanced_call(context, {}, "ird=2 ord=2");
  StartupFrame reply = context.reply_to(call.request);
  reply.enhanced->ord = kDepthNotStated;
  Link link = establish(context, std::move(call), reply);
  expect_traffic(context, link);
  expect_empty_reads(context, link.stream, 2);
}

void reports_the_depths_of_a_rejection(Context& context) {
  Context::Call call = enhanced_call(context, {}, "ird=4 ord=4");
  StartupFrame reply = context.reply_to(call.request);
  reply.flags |= kFlagReject;
  reply.enhanced->ird = 2;
  reply.enhanced->ord = 9;
  call.stream.send(reply);
  const Answer told = context.expect_event(call.endpoint, {"rejected"});
  context.expect_equal(told.number("ird"), 2, "IRD that the program is told");
  context.expect_equal(told.number("ord"), 9, "ORD that the program is told");
  expect_nothing_more(call.stream);
}

const Cases kDepthsOfReplies{
    {"mpa.enhanced.reply-ird-lower", "An initiator lowers its ORD to the Reply's IRD",
     Needs::kAgent, [](Context& context) { reads_at_once(context, 1, 1); }},
    {"mpa.enhanced.reply-ird-unstated", "An IRD of 0x3FFF leaves the initiator's ORD alone",
     Needs::kAgent, [](Context& context) { reads_at_once(context, kDepthNotStated, 4); }},
    {"mpa.enhanced.reply-ord-higher",
     "An initiator raises its IRD to the Reply's ORD of 4, or sends a Terminate", Needs::kAgent,
     [](Context& context) { raises_ird_or_gives_up(context, 4, 4); }},
    {"mpa.enhanced.reply-ord-greedy",
     "An initiator that cannot serve an ORD of 16382 says so in a Terminate", Needs::kAgent,
     [](Context& context) { raises_ird_or_gives_up(context, kDepthNotStated - 1, 20); }},
    {"mpa.enhanced.reply-ord-unstated", "An ORD of 0x3FFF leaves the initiator's IRD alone",
     Needs::kAgent, takes_an_unstated_ord},
    {"mpa.enhanced.rejected-depths", "The program is told the IRD and ORD of a rejection",
     Needs::kAgent, reports_the_depths_of_a_rejection},
};

// --- peer-to-peer ---

struct Choice {
  std::string_view id, title;
  bool send, write, read;  ///< B, C, D of the Reply.
};

StartupFrame offering(const Context& context, const Context::Call& call, const Choice& row) {
  StartupFrame reply = context.reply_to(call.request);
  reply.enhanced->send_rtr = row.send;
  reply.enhanced->write_rtr = row.write;
  reply.enhanced->read_rtr = row.read;
  return reply;
}

bool any_common(const EnhancedData& one, const EnhancedData& other) {
  return (one.send_rtr && other.send_rtr) || (one.write_rtr && other.write_rtr) ||
         (one.read_rtr && other.read_rtr);
}

void chooses(Context& context, const Choice& row) {
  Context::Call call = peer_call(context);
  const EnhancedData asked = data_of(call.request);
  const StartupFrame reply = offering(context, call, row);
  if (any_common(asked, data_of(reply))) {
    Link link = establish(context, std::move(call), reply);
    context.expect_no_completion(link.agent_end());
    return expect_traffic(context, link);
  }
  Link link = context.answer(std::move(call), reply);
  link.stream.expect_terminate(kNoMatchingRtr);
  link.stream.expect_end();
  context.expect_event(link.agent_end(), {"failed", "rejected", "disconnected"});
}

const Cases kChoices = cases_of<Choice>(
    Needs::kAgent, chooses,
    {{"mpa.enhanced.choose-of-all", "Of all RTRs an initiator gives one first", true, true, true},
     {"mpa.enhanced.choose-send", "To B alone the first FPDU is an empty Send, or a Terminate",
      true, false, false},
     {"mpa.enhanced.choose-write",
      "To C alone the first FPDU is an empty RDMA Write, or a Terminate", false, true, false},
     {"mpa.enhanced.choose-read", "To D alone the first FPDU is an empty RDMA Read, or a Terminate",
      false, false, true},
     {"mpa.enhanced.choose-none", "To A without B, C and D the first FPDU is a Terminate", false,
      false, false}});

// What the program posts at the first moment goes behind the RTR.
void gives_the_rtr_first(Context& context) {
  Context::Call call = peer_call(context);
  const StartupFrame reply = context.reply_to(call.request);
  const Octets message = pattern(30);
  Link link = context.answer(std::move(call), reply);
  post_send(context, link.agent_end(), message, 1);
  expect_rtr(link.stream, data_of(reply));
  context.expect_equal(expect_message(link.stream), message, "the message follows the RTR");
  context.expect_event(link.agent_end(), {"established"});
}

// The Reply must repeat A. What an initiator does with one that does not is its own choice, but it
// must not give an RTR, for which this responder is not ready.
void meets_a_reply_without_a(Context& context) {
  Context::Call call = peer_call(context);
  StartupFrame reply = context.reply_to(call.request);
  reply.enhanced->peer_to_peer = false;
  Link link = context.answer(std::move(call), reply);
  const Answer answer =
      context.expect_event(link.agent_end(), {"established", "failed", "rejected", "disconnected"});
  if (answer.text("event") != "established") {
    return link.stream.expect_refusal({kNoMatchingRtr});
  }
  link.stream.expect_quiet("no RTR without A");
  expect_traffic(context, link);
}

const Cases kIndicationsGiven{
    {"mpa.enhanced.rtr-first", "Nothing goes out before the RTR", Needs::kAgent,
     gives_the_rtr_first},
    {"mpa.enhanced.reply-without-a", "To a Reply without A no RTR is sent", Needs::kAgent,
     meets_a_reply_without_a},
};

}  // namespace

Cases cases() {
  return joined({kRequests, kDepthsOfReplies, kIndicationsGiven, kImproper, kChoices});
}

}  // namespace iwarp::conform::mpa_enhanced_initiator
