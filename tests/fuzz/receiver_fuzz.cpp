#include "fuzz/receiver_world.hpp"

// A peer's ULPDUs against both halves of a stream (RFC 5041 §7.1, RFC 5040 §7.2, RFC 7306 §8.2).
// Input: an octet of choices, one for IRD and ORD; then steps, each an octet and what it asks for:
// a ULPDU as it is, a message of each kind, or something that this end does. The headers of the
// messages are right unless an octet of deviations asks otherwise.
namespace iwarp::fuzz {
namespace {

void step(Input& input, ReceiverWorld& world) {
  switch (input.octet() % 8) {
    case 0: return world.deliver(input.chunk());
    case 1: return world.deliver(world.write(input));
    case 2: return world.deliver(world.message(input));
    case 3: return world.deliver(world.read_request(input));
    case 4: return world.deliver(world.atomic_request(input));
    case 5: return world.deliver(world.response(input));
    case 6: return world.deliver(world.terminate(input));
    default: return world.act(input);
  }
}

void run(Input input) {
  constexpr int kMostSteps = 200;
  ReceiverWorld world(input);
  for (int i = 0; i < kMostSteps && !input.empty(); ++i) step(input, world);
  world.finish();
}

}  // namespace
}  // namespace iwarp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  iwarp::fuzz::run({data, size});
  return 0;
}
