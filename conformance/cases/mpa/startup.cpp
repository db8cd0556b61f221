#include <thread>

#include "cases/catalogue.hpp"
#include "cases/mpa/support.hpp"

/// The target as responder: what it makes of Request Frames (RFC 5044 §7.1).
namespace iwarp::conform::mpa_startup {
namespace {

constexpr std::size_t kKeySize = 16, kRevisionOffset = 17;
constexpr milliseconds kPieceDelay{1};

void says_nothing_before_the_request(Context& context) {
  context.listen();
  Stream stream = context.dial();
  stream.expect_quiet("a responder waits for the Request");
}

void replies(Context& context) {
  const StartupFrame request = context.request();
  Link link = context.link();
  expect_sound(context, link.reply, true);
  context.expect_equal(link.reply.revision, request.revision, "revision of the Reply");
  if (link.endpoint) {
    context.expect_equal(link.reply.private_data, Octets{}, "no Private Data in the Reply");
  }
  link.stream.expect_quiet("nothing follows the Reply before the first FPDU");
  expect_traffic(context, link);
}

const Cases kReplies{
    {"mpa.startup.silent-before-request", "A responder sends nothing before the Request Frame",
     Needs::kListener, says_nothing_before_the_request},
    {"mpa.startup.reply", "A Request is answered with a well-formed Reply Frame", Needs::kListener,
     replies},
};

// --- what is no Request ---

void refuses(Context& context, OctetView instead_of_a_request) {
  context.listen();
  Stream stream = context.dial();
  stream.send_octets(instead_of_a_request, Event::Kind::kStartupSent);
  expect_no_connection(context, stream);
}

void refuses_each_wrong_key(Context& context) {
  for (std::size_t at = 0; at < kKeySize; ++at) {
    context.note("octet " + std::to_string(at) + " of the key is wrong:");
    StartupFrame request = context.request();
    request.key[at] ^= 0x20;
    refuses(context, encode(request));
  }
  expect_service(context);
}

Octets with_key(const Context& context, std::string_view key) {
  StartupFrame request = context.request();
  request.key = octets(key);
  return encode(request);
}

Octets with_revision(const Context& context, std::uint8_t revision) {
  Octets request = encode(context.request());
  request[kRevisionOffset] = revision;
  return request;
}

Octets with_private_data(const Context& context, std::size_t size,
                         std::optional<std::uint16_t> stated = std::nullopt) {
  StartupFrame request = plain_request(context);
  request.private_data = pattern(size);
  request.stated_length = stated;
  return encode(request);
}

struct Refused {
  std::string_view id, title;
  Octets (*make)(const Context&);
};

void refuses_and_goes_on(Context& context, const Refused& row) {
  refuses(context, row.make(context));
  expect_service(context);
}

const Cases kRefused = cases_of<Refused>(
    Needs::kListener, refuses_and_goes_on,
    {{"mpa.startup.reply-key", "A Reply instead of a Request ends the connection",
      [](const Context& context) { return with_key(context, kReplyKey); }},
     {"mpa.startup.other-protocol", "A request of another protocol ends the connection",
      [](const Context&) { return octets("GET /index.html HTTP/1.1\r\nHost: target\r\n\r\n"); }},
     {"mpa.startup.zeros", "Zeros instead of a Request end the connection",
      [](const Context&) { return Octets(64); }},
     {"mpa.startup.revision-3", "A Request of revision 3, which does not exist, is refused",
      [](const Context& context) { return with_revision(context, 3); }},
     {"mpa.startup.revision-3-bare", "A Request of revision 3 is refused without Private Data, too",
      [](const Context& context) {
        StartupFrame request = plain_request(context, 3);
        request.private_data.clear();
        return encode(request);
      }},
     {"mpa.startup.revision-255", "A Request of revision 255 is refused",
      [](const Context& context) { return with_revision(context, 255); }},
     {"mpa.startup.private-data-513", "A Request with 513 octets of Private Data is refused",
      [](const Context& context) { return with_private_data(context, kMaxPrivateData + 1); }},
     {"mpa.startup.private-data-513-announced",
      "A PD_Length of 513 is refused before the Private Data comes",
      [](const Context& context) { return with_private_data(context, 0, kMaxPrivateData + 1); }},
     {"mpa.startup.private-data-65535",
      "A PD_Length of 65535 is refused before the Private Data comes",
      [](const Context& context) { return with_private_data(context, 0, 65535); }}});

// A Request that ends too early.
struct Cut {
  std::string_view id, title;
  std::size_t octets;
};

// No RFC says how soon: a target may leave it to its timeout for Requests (RFC 5044 §7.1.2).
void gives_up(Context& context, const Cut& cut) {
  constexpr int kPatience = 10;
  context.listen();
  Stream stream = context.dial();
  const Octets whole = with_private_data(context, 20);
  stream.send_octets(OctetView(whole).first(cut.octets), Event::Kind::kStartupSent);
  stream.shut_down_sending();
  stream.await_end(kPatience * context.limits().timeout);
  expect_no_connection(context, stream);
  expect_service(context);
}

const Cases kCuts = cases_of<Cut>(
    Needs::kListener, gives_up,
    {{"mpa.startup.fin-at-once", "A connection that ends without a Request is given up", 0},
     {"mpa.startup.fin-in-key", "A connection that ends within the key is given up", 9},
     {"mpa.startup.fin-in-header", "A connection that ends before PD_Length is given up", 18},
     {"mpa.startup.fin-in-private-data", "Half of the Private Data is no Request", 30}});

void survives_a_reset(Context& context) {
  context.listen();
  Stream stream = context.dial();
  stream.send(context.request());
  if (context.has_agent()) {
    Endpoint endpoint = context.await_endpoint();
    stream.reset();
    try {
      endpoint.accept();
      if (context.expect_event(endpoint, {"failed", "disconnected", "established"}).text("event") ==
          "established") {
        context.expect_event(endpoint, {"failed", "disconnected"});
      }
    } catch (const AgentError& error) {
      context.note(error.what());  // it has noticed already
    }
  } else {
    stream.reset();
  }
  expect_service(context);
}

// The initiator cannot know anything to send before the Reply: what comes is no Private Data, and
// no FPDU. The target may notice before its Reply or only behind it.
void refuses_what_follows(Context& context, OctetView behind) {
  context.listen();
  Stream stream = context.dial();
  const StartupFrame request = context.request();
  Octets all = encode(request);
  put(all, behind);
  stream.send_octets(all, Event::Kind::kStartupSent);
  if (const auto asked = accept_if_asked(context)) {
    context.expect_equal(asked->octets("private"), request.private_data,
                         "Private Data of the length stated");
  }
  stream.shut_down_sending();
  if (const auto reply = stream.expect_reply_or_end()) {
    begin_full_operation(stream, request, *reply);
    stream.expect_end();
  }
  expect_service(context);
}

// --- what is one ---

struct Accepted {
  std::string_view id, title;
  std::uint8_t flags;
};

// Flags that a responder does not look at: set beside the usual ones.
void ignores_flags(Context& context, const Accepted& row) {
  StartupFrame request = context.request();
  request.flags |= row.flags;
  Link link = context.link({.request = request});
  expect_sound(context, link.reply, true);
  expect_traffic(context, link);
}

const Cases kAccepted = cases_of<Accepted>(
    Needs::kListener, ignores_flags,
    {{"mpa.startup.reserved-08", "The reserved flag 0x08 of a Request is ignored", 0x08},
     {"mpa.startup.reserved-04", "The reserved flag 0x04 of a Request is ignored", 0x04},
     {"mpa.startup.reserved-02", "The reserved flag 0x02 of a Request is ignored", 0x02},
     {"mpa.startup.reserved-01", "The reserved flag 0x01 of a Request is ignored", 0x01},
     {"mpa.startup.reserved-all", "All reserved flags of a Request are ignored together", 0x0F},
     {"mpa.startup.reject-in-request", "R in a Request is ignored", kFlagReject}});

void answers_revision_1(Context& context) {
  Link link = context.link({.request = plain_request(context)});
  expect_sound(context, link.reply, true);
  context.expect_equal(link.reply.revision, 1, "revision of the Reply");
  expect_traffic(context, link);
}

// Revision 0 came with version 0 of DDP and RDMAP; few know it.
void closes_on_or_answers_revision_0(Context& context) {
  context.listen();
  Stream stream = context.dial();
  stream.send(plain_request(context, 0));
  accept_if_asked(context);
  if (const auto reply = stream.expect_reply_or_end()) {
    context.expect_equal(reply->revision, 0, "revision of the Reply");
  }
  expect_service(context);
}

void takes_it_octet_by_octet(Context& context) {
  context.listen();
  Stream stream = context.dial();
  const StartupFrame request = context.request();
  stream.send_in_pieces(encode(request), 1, Event::Kind::kStartupSent);
  Link link = context.link(std::move(stream), {.request = request});
  expect_traffic(context, link);
}

void takes_it_cut_anywhere(Context& context) {
  context.listen();
  const StartupFrame request = context.request();
  const Octets octets = encode(request);
  for (std::size_t cut = 1; cut < octets.size(); ++cut) {
    Stream stream = context.dial();
    stream.send_octets(OctetView(octets).first(cut));
    std::this_thread::sleep_for(kPieceDelay);  // so that the target may see the first part alone
    stream.send_octets(OctetView(octets).subspan(cut));
    context.link(std::move(stream), {.request = request});
  }
}

const Cases kOddRequests{
    {"mpa.startup.wrong-key", "A Request with any octet of its key wrong ends the connection",
     Needs::kListener, refuses_each_wrong_key},
    {"mpa.startup.revision-0", "A Request of revision 0 ends the connection or is answered alike",
     Needs::kListener, closes_on_or_answers_revision_0},
    {"mpa.startup.revision-1", "A Request of revision 1 is accepted by a Reply of revision 1",
     Needs::kListener, answers_revision_1},
    {"mpa.startup.octet-by-octet", "A Request may come octet by octet", Needs::kListener,
     takes_it_octet_by_octet},
    {"mpa.startup.cut-anywhere", "A Request may be cut at any octet", Needs::kListener,
     takes_it_cut_anywhere},
    {"mpa.startup.reset", "A connection reset behind the Request harms no other connection",
     Needs::kListener, survives_a_reset},
    {"mpa.startup.surplus", "Octets between Request and Reply do not become Private Data",
     Needs::kListener, [](Context& context) { refuses_what_follows(context, Octets(16, 0xA5)); }},
    {"mpa.startup.two-requests", "A second Request in a connection is not answered",
     Needs::kListener,
     [](Context& context) { refuses_what_follows(context, encode(context.request())); }},
};

}  // namespace

Cases cases() { return joined({kReplies, kOddRequests, kRefused, kCuts, kAccepted}); }

}  // namespace iwarp::conform::mpa_startup
