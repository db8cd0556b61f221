#include "cases/catalogue.hpp"

/// Sends to the target: where they go and what is told of them (RFC 5040 §5.3, RFC 5041 §5.3).
namespace iwarp::conform {
namespace {

void delivers_a_send(Context& context) {
  const Region region = context.agent().region(256, "local_write");
  Link link = context.link({.request = context.request(), .prepare = [&](Endpoint& endpoint) {
                              endpoint.receive(1, region, 16, 100);
                            }});
  const Octets message = pattern(60);
  link.stream.send_message(message);
  const Completion completion = context.expect_completion(link.agent_end(), 1);
  context.expect_equal(completion.length, message.size(), "length of the completion");
  context.expect_memory(region, 16, message);
}

void terminates_without_a_receive(Context& context) {
  Link link = context.link();
  link.stream.send_message(pattern(8));
  link.stream.expect_terminate(Cause{kLayerDdp, 2, 0x02});
  link.stream.expect_end();
}

}  // namespace

std::vector<Case> rdmap_send_cases() {
  return {
      {"rdmap.send.delivered", "A Send fills the first posted receive and completes it",
       Needs::kAgent, delivers_a_send},
      {"ddp.untagged.no-receive", "A Send without a posted receive is answered with a Terminate",
       Needs::kAgent, terminates_without_a_receive},
  };
}

}  // namespace iwarp::conform
