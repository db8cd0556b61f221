// A fragment in a document stands in a function that has what most programs have by then.
#include <chrono>
#include <cstddef>
#include <iostream>
#include <iwarp/verbs/verbs.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace iwarp::verbs;
using namespace std::chrono_literals;

namespace {

template <typename T>
[[maybe_unused]] T must(Outcome<T> outcome) {
  if (!outcome) throw std::runtime_error(outcome.error().message);
  return std::move(*outcome);
}

[[maybe_unused]] void fragment(Device& device, ProtectionDomain& pd, CompletionQueue& cq,
                               QueuePair& qp, MemoryRegion& region,
                               std::vector<std::byte>& buffer) {
  // FRAGMENT
}

}  // namespace
