#include "cases/catalogue.hpp"
#include "cases/mpa/support.hpp"

/// The target as initiator: its Request, and what it makes of Replies (RFC 5044 §7.1).
namespace iwarp::conform::mpa_initiator {
namespace {

constexpr std::size_t kKeySize = 16, kFlagsOffset = 16, kRevisionOffset = 17, kLengthOffset = 18;

void sends_a_sound_request(Context& context) {
  Context::Call call = context.call();
  expect_sound(context, call.request, false);
  context.expect_equal(call.request.private_data, Octets{}, "no Private Data, as none was given");
  call.stream.expect_quiet("an initiator waits for the Reply");
  Link link = establish(context, std::move(call));
  expect_traffic(context, link);
}

void asks_for_crcs(Context& context) {
  const Context::Call call = context.call();
  context.expect(call.request.crc(), "C in a Request of a program that said nothing of it", "none");
}

const Cases kFrames{
    {"mpa.initiator.request", "An initiator sends a well-formed Request and waits for the Reply",
     Needs::kAgent, sends_a_sound_request},
    {"mpa.initiator.crc-default", "By default a Request asks for CRCs", Needs::kAgent,
     asks_for_crcs},
};

// --- what is no Reply ---

using Spoil = void (*)(Octets& reply);

void refuses_each_wrong_key(Context& context) {
  for (std::size_t at = 0; at < kKeySize; ++at) {
    context.note("octet " + std::to_string(at) + " of the key is wrong:");
    Context::Call call = context.call();
    StartupFrame reply = context.reply_to(call.request);
    reply.key[at] ^= 0x20;
    call.stream.send(reply);
    expect_failed_call(context, call);
  }
}

struct Refused {
  std::string_view id, title;
  Spoil spoil;
};

void state_length(Octets& reply, std::uint16_t length) {
  reply[kLengthOffset] = static_cast<std::uint8_t>(length >> 8);
  reply[kLengthOffset + 1] = static_cast<std::uint8_t>(length);
}

void refuses(Context& context, const Refused& row) {
  Context::Call call = context.call();
  Octets reply = encode(context.reply_to(call.request));
  row.spoil(reply);
  call.stream.send_octets(reply, Event::Kind::kStartupSent);
  expect_failed_call(context, call);
  context.note("the next call goes well:");
  Link link = establish(context, context.call());
  expect_traffic(context, link);
}

const Cases kRefused = cases_of<Refused>(
    Needs::kAgent, refuses,
    {{"mpa.initiator.request-key",
      "A Request instead of a Reply shows that both ends are initiators",
      [](Octets& reply) { std::copy(kRequestKey.begin(), kRequestKey.end(), reply.begin()); }},
     {"mpa.initiator.zeros", "Zeros instead of a Reply end the connection",
      [](Octets& reply) { reply.assign(64, 0); }},
     {"mpa.initiator.other-protocol", "An answer in another protocol ends the connection",
      [](Octets& reply) {
        reply = octets("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
      }},
     {"mpa.initiator.revision-3", "A Reply of revision 3, which does not exist, is refused",
      [](Octets& reply) { reply[kRevisionOffset] = 3; }},
     {"mpa.initiator.revision-3-bare", "A Reply of revision 3 is refused without Private Data, too",
      [](Octets& reply) {
        reply.resize(kStartupHeaderSize);
        reply[kFlagsOffset] = kFlagCrc;
        reply[kRevisionOffset] = 3;
        state_length(reply, 0);
      }},
     {"mpa.initiator.revision-255", "A Reply of revision 255 is refused",
      [](Octets& reply) { reply[kRevisionOffset] = 255; }},
     {"mpa.initiator.private-data-513", "A Reply with 513 octets of Private Data is refused",
      [](Octets& reply) {
        reply.resize(kStartupHeaderSize + kMaxPrivateData + 1);
        state_length(reply, kMaxPrivateData + 1);
      }},
     {"mpa.initiator.private-data-65535",
      "A PD_Length of 65535 is refused before the Private Data comes",
      [](Octets& reply) { state_length(reply, 65535); }}});

// A Reply that ends too early: so many octets of one with 20 of Private Data.
struct Cut {
  std::string_view id, title;
  std::size_t octets;
};

void gives_up(Context& context, const Cut& cut) {
  Context::Call call = context.call();
  StartupFrame reply = context.reply_to(call.request);
  reply.private_data = pattern(20);
  call.stream.send_octets(OctetView(encode(reply)).first(cut.octets), Event::Kind::kStartupSent);
  call.stream.shut_down_sending();
  expect_failed_call(context, call);
}

const Cases kCuts = cases_of<Cut>(
    Needs::kAgent, gives_up,
    {{"mpa.initiator.fin-in-key", "A connection that ends within the Reply's key has failed", 9},
     {"mpa.initiator.fin-in-header",
      "A connection that ends before the Reply's PD_Length has failed", 18},
     {"mpa.initiator.fin-in-private-data", "Half of the Reply's Private Data is no Reply", 30}});

// A target that asked for enhanced features may try once more without them (RFC 6581 §10).
void gives_up_or_asks_for_less(Context& context) {
  Context::Call call = context.call();
  const bool enhanced = call.request.says_enhanced();
  call.stream.close();
  auto again = enhanced ? context.next_call(context.limits().quiet) : std::nullopt;
  if (!again) {
    context.expect_event(call.endpoint, {"failed", "rejected", "disconnected"});
    return;
  }
  StartupFrame request = again->expect_request();
  context.expect(!request.says_enhanced(), "a Request without S", "one with S");
  expect_sound(context, request, false);
  Link link = establish(
      context,
      {.stream = std::move(*again), .endpoint = call.endpoint, .request = std::move(request)});
  expect_traffic(context, link);
}

// --- what is one ---

struct Accepted {
  std::string_view id, title;
  std::uint8_t flags;
};

void ignores_flags(Context& context, const Accepted& row) {
  Context::Call call = context.call();
  StartupFrame reply = context.reply_to(call.request);
  reply.flags |= row.flags;
  Link link = establish(context, std::move(call), reply);
  expect_traffic(context, link);
}

const Cases kAccepted = cases_of<Accepted>(
    Needs::kAgent, ignores_flags,
    {{"mpa.initiator.reserved-08", "The reserved flag 0x08 of a Reply is ignored", 0x08},
     {"mpa.initiator.reserved-04", "The reserved flag 0x04 of a Reply is ignored", 0x04},
     {"mpa.initiator.reserved-02", "The reserved flag 0x02 of a Reply is ignored", 0x02},
     {"mpa.initiator.reserved-01", "The reserved flag 0x01 of a Reply is ignored", 0x01},
     {"mpa.initiator.reserved-all", "All reserved flags of a Reply are ignored together", 0x0F}});

void takes_it_octet_by_octet(Context& context) {
  Context::Call call = context.call();
  const StartupFrame reply = context.reply_to(call.request);
  call.stream.send_in_pieces(encode(reply), 1, Event::Kind::kStartupSent);
  Link link = establish_answered(context, std::move(call), reply);
  expect_traffic(context, link);
}

// --- what the program sees and says ---

struct PrivateData {
  std::string_view id, title;
  std::size_t size;
};

void asks_with_private_data(Context& context, const PrivateData& data) {
  const Octets said = pattern(data.size, 5);
  Context::Call call =
      with_private_data(data.size, [&] { return context.call({}, "private=" + octet_text(said)); });
  expect_sound(context, call.request, false);
  context.expect_equal(call.request.private_data, said, "the Private Data as the program gave it");
  establish(context, std::move(call));
}

const Cases kAsked = cases_of<PrivateData>(
    Needs::kAgent, asks_with_private_data,
    {{"mpa.initiator.asks-1", "1 octet of Private Data goes into a Request", 1},
     {"mpa.initiator.asks-3", "3 octets of Private Data go into a Request", 3},
     {"mpa.initiator.asks-64", "64 octets of Private Data go into a Request", 64},
     {"mpa.initiator.asks-256", "256 octets of Private Data go into a Request", 256},
     {"mpa.initiator.asks-508", "508 octets of Private Data go into a Request", 508}});

void passes_private_data_on(Context& context, const PrivateData& data) {
  Context::Call call = context.call();
  StartupFrame reply = context.reply_to(call.request);
  reply.private_data = pattern(data.size, 6);
  Answer details;
  Link link = establish(context, std::move(call), reply, &details);
  context.expect_equal(details.octets("private"), reply.private_data,
                       "the agent sees the Private Data as sent");
  expect_traffic(context, link);
}

const Cases kReplied = cases_of<PrivateData>(
    Needs::kAgent, passes_private_data_on,
    {{"mpa.initiator.told-0", "The program sees that a Reply has no Private Data", 0},
     {"mpa.initiator.told-1", "The program sees 1 octet of Private Data of a Reply", 1},
     {"mpa.initiator.told-3", "The program sees 3 octets of Private Data of a Reply", 3},
     {"mpa.initiator.told-64", "The program sees 64 octets of Private Data of a Reply", 64},
     {"mpa.initiator.told-256", "The program sees 256 octets of Private Data of a Reply", 256},
     {"mpa.initiator.told-508", "The program sees 508 octets of Private Data of a Reply", 508}});

void reports_a_rejection(Context& context, const PrivateData& data) {
  Context::Call call = context.call();
  StartupFrame reply = context.reply_to(call.request);
  reply.flags |= kFlagReject;
  reply.private_data = pattern(data.size, 6);
  call.stream.send(reply);
  const Answer details = context.expect_event(call.endpoint, {"rejected"});
  context.expect_equal(details.octets("private"), reply.private_data,
                       "the agent sees the Private Data as sent");
  expect_nothing_more(call.stream);
}

const Cases kRejected = cases_of<PrivateData>(
    Needs::kAgent, reports_a_rejection,
    {{"mpa.initiator.rejected", "A Reply with R is reported as a rejection", 0},
     {"mpa.initiator.rejected-with-private-data",
      "The program sees the Private Data of a rejection", 100}});

// --- behind the Reply ---

// A responder may not send before the initiator has; one that does must not have its octets lost
// while both ends believe in the connection.
void loses_nothing_behind_the_reply(Context& context) {
  const Region sink = context.agent().region(64, "local_write");
  Context::Call call = context.call();
  const StartupFrame reply = context.reply_to(call.request);
  call.endpoint.receive(1, sink, 0, sink.size);
  FpduWriter writer(framing_to(call.request, reply));
  const Octets message = pattern(40);
  Octets both = encode(reply);
  put(both, writer.frame(encode(untagged_segment(kSend, kSendQueue, 1, 0, message))));
  call.stream.send_octets(both, Event::Kind::kStartupSent);
  const auto completion = call.endpoint.completion(context.limits().timeout);
  if (completion && completion->status == "success") {
    return context.expect_memory(sink, 0, message);
  }
  if (!completion) context.expect_event(call.endpoint, {"failed", "rejected", "disconnected"});
  context.expect_untouched(sink);
}

struct CrcWishes {
  std::string_view id, title;
  bool initiator, responder;
};

void agrees_on_crc(Context& context, const CrcWishes& wishes) {
  if (!wishes.initiator) context.need("mpa");
  Context::Call call = context.call(wishes.initiator ? "" : "crc=0");
  if (wishes.initiator && !call.request.crc()) {
    throw Skipped("the target asks for no CRCs where none is wished");
  }
  if (!wishes.initiator && call.request.crc()) {
    throw Skipped("the target always uses CRCs, as RFC 5044 section 4.4 allows");
  }
  StartupFrame reply = context.reply_to(call.request);
  if (!wishes.responder) reply.flags &= static_cast<std::uint8_t>(~kFlagCrc);
  Link link = establish(context, std::move(call), reply);
  expect_traffic(context, link);
  expect_crc_is(context, link, wishes.initiator || wishes.responder);
}

const Cases kCrcWishes = cases_of<CrcWishes>(
    Needs::kAgent, agrees_on_crc,
    {{"mpa.initiator.crc-both", "With C in both frames an initiator makes and checks CRCs", true,
      true},
     {"mpa.initiator.crc-request", "With C in its Request alone it makes and checks CRCs", true,
      false},
     {"mpa.initiator.crc-reply", "With C in the Reply alone it makes and checks CRCs", false, true},
     {"mpa.initiator.crc-neither", "With C in neither frame an initiator does not check CRCs",
      false, false}});

// A peer may answer an unenhanced Request of revision 1 in revision 2, if its Reply is unenhanced,
// too. The initiator takes that Reply or closes the connection.
void takes_or_refuses_a_newer_reply(Context& context) {
  context.need("mpa");
  Context::Call call = context.call("revision=1");
  context.expect_equal(call.request.revision, 1, "revision of the Request");
  expect_sound(context, call.request, false);
  StartupFrame reply = context.reply_to(call.request);
  reply.revision = 2;
  call.stream.send(reply);
  const Answer answer =
      context.expect_event(call.endpoint, {"established", "failed", "rejected", "disconnected"});
  if (answer.text("event") != "established") {
    call.stream.expect_end();
    return;
  }
  Link link = context.answered(std::move(call), reply);
  expect_traffic(context, link);
}

const Cases kReplies{
    {"mpa.initiator.wrong-key", "A Reply with any octet of its key wrong ends the connection",
     Needs::kAgent, refuses_each_wrong_key},
    {"mpa.initiator.closed-without-reply",
     "A connection that ends without a Reply has failed, or is tried again without S",
     Needs::kAgent, gives_up_or_asks_for_less},
    {"mpa.initiator.newer-reply",
     "A Reply of revision 2 to a Request of revision 1 is taken as it is, or refused",
     Needs::kAgent, takes_or_refuses_a_newer_reply},
    {"mpa.initiator.octet-by-octet", "A Reply may come octet by octet", Needs::kAgent,
     takes_it_octet_by_octet},
    {"mpa.initiator.fpdu-behind-reply", "An FPDU right behind the Reply is not lost unnoticed",
     Needs::kAgent, loses_nothing_behind_the_reply},
};

}  // namespace

Cases cases() {
  return joined(
      {kFrames, kReplies, kRefused, kCuts, kAccepted, kAsked, kReplied, kRejected, kCrcWishes});
}

}  // namespace iwarp::conform::mpa_initiator
