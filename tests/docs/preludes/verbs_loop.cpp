// A fragment in a document stands in a loop over a completion queue and a descriptor of the
// program's own.
#include <poll.h>

#include <iwarp/verbs/verbs.hpp>
#include <span>

using namespace iwarp::verbs;

namespace {

void handle(std::span<const Completion>) {}
bool handle_wake() { return false; }

[[maybe_unused]] void fragment(CompletionQueue& cq, int wake) {
  // FRAGMENT
}

}  // namespace
