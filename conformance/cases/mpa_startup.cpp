#include "cases/catalogue.hpp"

/// The target as responder: what it makes of Request Frames (RFC 5044 §7.1, RFC 6581 §9).
namespace iwarp::conform {
namespace {

void replies_with_the_reply_key(Context& context) {
  const Link link = context.link();
  context.expect_equal(link.reply.revision, context.revision(), "revision of the Reply");
}

void says_nothing_before_the_request(Context& context) {
  context.listen();
  Stream stream = context.dial();
  stream.expect_quiet("a responder waits for the Request");
}

void closes_on_a_wrong_key(Context& context) {
  context.listen();
  Stream stream = context.dial();
  StartupFrame request = context.request();
  request.key.back() ^= 1;
  stream.send(request);
  stream.expect_end();
  context.expect_target_alive();
}

}  // namespace

std::vector<Case> mpa_startup_cases() {
  return {
      {"mpa.startup.silent-before-request", "A responder sends nothing before the Request Frame",
       Needs::kListener, says_nothing_before_the_request},
      {"mpa.startup.reply", "A Request is answered with a Reply Frame", Needs::kListener,
       replies_with_the_reply_key},
      {"mpa.startup.wrong-key", "A Request with a wrong key ends the connection", Needs::kListener,
       closes_on_a_wrong_key},
  };
}

}  // namespace iwarp::conform
