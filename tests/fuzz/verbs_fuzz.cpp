#include "fuzz/verbs_world.hpp"

// A program's calls and a peer's octets against one queue pair, in virtual time. Input: 16 octets
// that say how the connection, the queues and the network are; then steps, each an octet and what
// it asks for. Between two steps some time passes, unless bit 7 is set. The last octets say how it
// ends. Messages of the peer are right unless an octet of deviations asks otherwise.
namespace iwarp::fuzz {
namespace {

void step(std::uint8_t what, Input& input, VerbsWorld& world) {
  switch (what % 16) {
    case 0:
    case 1:
    case 2: return world.post_send(input);
    case 3:
    case 4: return world.post_receive(input);
    case 5: return world.send(input.chunk());
    case 6: return world.send(world.write(input));
    case 7: return world.send(world.message(input));
    case 8: return world.send(world.read_request(input));
    case 9: return world.send(world.atomic_request(input));
    case 10: return world.send(world.response(input));
    case 11: return world.send(world.terminate(input));
    case 12: return world.pass_time(input);
    case 13: return world.change_memory(input);
    case 14: return world.call(input);
    default: return (what & 0x10U) != 0 ? world.send_octets(input.chunk()) : world.disturb(input);
  }
}

void run(Input input) {
  constexpr int kMostSteps = 120;
  VerbsWorld world(input);
  for (int i = 0; i < kMostSteps && input.size() > 1; ++i) {
    const std::uint8_t what = input.octet();
    step(what, input, world);
    if ((what & 0x80U) == 0) world.pass_some_time();
  }
  world.finish(input);
}

}  // namespace
}  // namespace iwarp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  GTEST_FLAG_SET(throw_on_failure, true);  // of what the harness itself expects
  iwarp::fuzz::run({data, size});
  return 0;
}
