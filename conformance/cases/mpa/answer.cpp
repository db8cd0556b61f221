#include "cases/catalogue.hpp"
#include "cases/mpa/support.hpp"

/// The target as responder: what its program is told and says, and what both ends agree on
/// (RFC 5044 §7.1).
namespace iwarp::conform::mpa_answer {
namespace {

struct PrivateData {
  std::string_view id, title;
  std::size_t size;
  bool enhanced = true;  ///< Beside the data of RFC 6581, if the run is of revision 2.
};

void passes_private_data_on(Context& context, const PrivateData& data) {
  context.listen();
  StartupFrame request = data.enhanced ? context.request() : plain_request(context);
  request.private_data = pattern(data.size);
  Stream stream = context.dial();
  stream.send(request);
  Answer answer;
  Endpoint endpoint = context.await_endpoint(&answer);
  context.expect_equal(answer.octets("private"), request.private_data,
                       "the agent sees the Private Data as sent");
  endpoint.accept();
  expect_sound(context, stream.expect_reply(), true);
}

const Cases kAsked = cases_of<PrivateData>(
    Needs::kAgent, passes_private_data_on,
    {{"mpa.startup.asked-0", "The program sees that a Request has no Private Data", 0},
     {"mpa.startup.asked-1", "The program sees 1 octet of Private Data of a Request", 1},
     {"mpa.startup.asked-3", "The program sees 3 octets of Private Data of a Request", 3},
     {"mpa.startup.asked-64", "The program sees 64 octets of Private Data of a Request", 64},
     {"mpa.startup.asked-256", "The program sees 256 octets of Private Data of a Request", 256},
     {"mpa.startup.asked-508", "The program sees 508 octets of Private Data of a Request", 508},
     {"mpa.startup.asked-512", "The program sees 512 octets of Private Data of a Request", 512,
      false}});

void replies_with_private_data(Context& context, const PrivateData& data) {
  const Octets said = pattern(data.size, 7);
  const StartupFrame request = data.enhanced ? context.request() : plain_request(context);
  Link link = with_private_data(data.size, [&] {
    return context.link({.request = request, .accept = "private=" + octet_text(said)});
  });
  expect_sound(context, link.reply, true);
  context.expect_equal(link.reply.private_data, said, "the Private Data as the program gave it");
  expect_traffic(context, link);
}

const Cases kReplied = cases_of<PrivateData>(
    Needs::kAgent, replies_with_private_data,
    {{"mpa.startup.replied-1", "1 octet of Private Data goes into a Reply", 1},
     {"mpa.startup.replied-3", "3 octets of Private Data go into a Reply", 3},
     {"mpa.startup.replied-64", "64 octets of Private Data go into a Reply", 64},
     {"mpa.startup.replied-256", "256 octets of Private Data go into a Reply", 256},
     {"mpa.startup.replied-508", "508 octets of Private Data go into a Reply", 508},
     {"mpa.startup.replied-512", "512 octets of Private Data go into a Reply", 512, false}});

void rejects(Context& context, std::size_t private_data) {
  context.listen();
  Stream stream = context.dial();
  const StartupFrame request = context.request();
  stream.send(request);
  const Octets reason = pattern(private_data, 3);
  context.await_endpoint().reject(reason);
  const StartupFrame reply = stream.expect_reply();
  expect_sound(context, reply, true);
  context.expect(reply.rejected(), "R in the Reply", "none");
  context.expect_equal(reply.revision, request.revision, "revision of the Reply");
  context.expect_equal(reply.says_enhanced(), request.says_enhanced(), "S as in the Request");
  context.expect_equal(reply.private_data, reason, "the Private Data as the program gave it");
  expect_nothing_more(stream);
  expect_service(context);
}

void holds_what_is_to_be_sent(Context& context) {
  Link link = context.link();
  const Octets message = pattern(30);
  post_send(context, link.agent_end(), message, 1);
  link.stream.expect_quiet("a responder sends no FPDU, nor a Marker, before it has got one");
  link.stream.write(0, 0, {});
  context.expect_equal(expect_message(link.stream), message, "what was held back follows");
  context.expect_completion(link.agent_end(), 1);
}

const Cases kAnswers{
    {"mpa.startup.rejects", "The program's rejection goes out as a Reply with R", Needs::kAgent,
     [](Context& context) { rejects(context, 0); }},
    {"mpa.startup.rejects-with-private-data", "A rejection carries the program's Private Data",
     Needs::kAgent, [](Context& context) { rejects(context, 100); }},
    {"mpa.startup.holds-fpdus", "A responder sends no FPDU before it has received one",
     Needs::kAgent, holds_what_is_to_be_sent},
};

// --- CRC ---

struct CrcWishes {
  std::string_view id, title;
  bool initiator, responder;
};

void agrees_on_crc(Context& context, const CrcWishes& wishes) {
  if (!wishes.responder) context.need("mpa");
  StartupFrame request = context.request();
  if (!wishes.initiator) request.flags &= static_cast<std::uint8_t>(~kFlagCrc);
  Link link = context.link({.request = request, .listen = wishes.responder ? "" : "crc=0"});
  if (wishes.responder) context.expect(link.reply.crc(), "C in the Reply", "none");
  expect_traffic(context, link);
  expect_crc_is(context, link, wishes.initiator || link.reply.crc());
  if (!wishes.initiator && !wishes.responder && link.reply.crc()) {
    throw Skipped("the target always uses CRCs, as RFC 5044 section 4.4 allows");
  }
}

const Cases kCrcWishes = cases_of<CrcWishes>(
    Needs::kAgent, agrees_on_crc,
    {{"mpa.startup.crc-both", "With C in both frames CRCs are made and checked", true, true},
     {"mpa.startup.crc-initiator", "With C in the Request alone CRCs are made and checked", true,
      false},
     {"mpa.startup.crc-responder",
      "A responder that wants CRCs says so to a Request without C, and makes and checks them",
      false, true},
     {"mpa.startup.crc-neither", "With C in neither frame CRCs are not checked", false, false}});

}  // namespace

Cases cases() { return joined({kAnswers, kAsked, kReplied, kCrcWishes}); }

}  // namespace iwarp::conform::mpa_answer
