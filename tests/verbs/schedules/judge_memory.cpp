#include <algorithm>
#include <cstring>

#include "verbs/schedules/judge.hpp"

namespace iwarp::verbs::simtest::schedules {
namespace {

std::uint64_t word_at(const Place& place) {
  std::uint64_t word = 0;
  std::memcpy(&word, place.region->memory.bytes().data() + place.at, sizeof word);
  return word;
}

bool is_vacant(ConstBytes octets) {
  return std::all_of(octets.begin(), octets.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

void Judge::check_memory() {
  for (const Side side : kSides) {
    if (!record_.end(side).intact()) violated(side, "octets were placed outside a region");
  }
  check_constants();
  if (record_.setting.deceptive()) return;
  for (const Side side : kSides) {
    check_order(side);
    check_responses(side);
    check_adds(side);
  }
}

// What was only read has not changed. A header that changed on the way may name anything that is
// open to a peer's writing, and none of this is.
void Judge::check_constants() {
  for (const Constant& constant : record_.program.constants) {
    const ConstBytes now = constant.region->memory.bytes();
    if (std::equal(now.begin(), now.end(), constant.content.begin())) continue;
    record_.violations.emplace_back("memory that was only to be read has changed");
  }
}

// How much of an operation's content is at its place, and whether the memory around it is as it
// was.
Judge::Arrival Judge::look(Side side, const Operation& operation, const Place& place) {
  const ConstBytes all = place.region->memory.bytes();
  const ConstBytes room = all.subspan(place.at);
  const auto first_vacant = std::find(room.begin(), room.end(), std::byte{0});
  const auto come = static_cast<std::size_t>(first_vacant - room.begin());
  const bool right = come <= operation.content.size() &&
                     std::equal(room.begin(), first_vacant, operation.content.begin());
  if (!right || !is_vacant(all.first(place.at)) || !is_vacant(room.subspan(come))) {
    violated(side, operation, "octets of it, or of something else, are in the wrong place");
    return Arrival::kUnknown;
  }
  if (come == operation.content.size()) return come == 0 ? Arrival::kUnknown : Arrival::kWhole;
  return come == 0 ? Arrival::kNone : Arrival::kPart;
}

Judge::Arrival Judge::arrival_of_content(Side side, const Operation& operation) {
  const bool must = received(side, operation);
  if (operation.there.region == nullptr) return must ? Arrival::kWhole : Arrival::kUnknown;
  const Arrival seen = look(side, operation, operation.there);
  if (!must || operation.content.empty()) return must ? Arrival::kWhole : seen;
  if (seen != Arrival::kWhole)
    violated(side, operation, "was received, but not all of it is there");
  return seen;
}

Judge::Arrival Judge::arrival_of_swap(Side side, const Operation& operation) {
  std::uint64_t before = 0;
  std::memcpy(&before, operation.content.data(), sizeof before);
  const std::uint64_t now = word_at(operation.word);
  if (now != before && now != *operation.swapped) {
    violated(side, operation, "left neither the value before nor the one that it swaps in");
  }
  if (before == *operation.swapped) return Arrival::kUnknown;
  return now == before ? Arrival::kNone : Arrival::kWhole;
}

// What the memory of the peer, or an answer from it, says about a request having arrived there.
Judge::Arrival Judge::arrival(Side side, const Operation& operation) {
  const Opcode opcode = operation.request.opcode;
  if (opcode >= Opcode::kBindWindow) return Arrival::kUnknown;
  if (operation.swapped) return arrival_of_swap(side, operation);
  if (opcode == Opcode::kFetchAdd) {
    std::uint64_t place = 0;
    std::memcpy(&place, operation.content.data(), sizeof place);
    return word_at(part(side).counter) > place ? Arrival::kWhole : Arrival::kNone;
  }
  if (opcode != Opcode::kRead) return arrival_of_content(side, operation);
  const bool answered = operation.request.wr_id < succeeded(side);
  return answered ? Arrival::kWhole : Arrival::kUnknown;
}

// Requests take effect at the peer in the order they were posted: behind one that has not come
// whole, nothing has come.
void Judge::check_order(Side side) {
  bool over = false;
  const std::size_t promised = has_promised(side) ? succeeded(side) : 0;
  for (const Operation& operation : part(side).operations) {
    const Arrival seen = arrival(side, operation);
    const bool come = seen == Arrival::kWhole || seen == Arrival::kPart;
    if (come && !was_posted(side, operation)) {
      violated(side, operation, "arrived though it was never posted");
    }
    if (come && over) violated(side, operation, "arrived though something before it had not");
    if (operation.request.wr_id < promised && (seen == Arrival::kNone || seen == Arrival::kPart)) {
      violated(side, operation, "succeeded, and not all of it arrived");
    }
    if (record_.setting.clean() && !come && seen != Arrival::kUnknown) {
      violated(side, operation, "never arrived though nothing went wrong");
    }
    over = over || seen == Arrival::kPart || seen == Arrival::kNone;
    over = over || (operation.spoiled && !operation.spoiled_sink);
  }
}

// Responses arrive in the order of the requests; a request that succeeded has all of its own.
void Judge::check_responses(Side side) {
  bool over = false;
  const std::size_t done = succeeded(side);
  for (const Operation& operation : part(side).operations) {
    if (operation.here.region == nullptr) continue;
    const Arrival seen = look(side, operation, operation.here);
    if (seen == Arrival::kUnknown) continue;
    const bool come = seen != Arrival::kNone;
    if (come && over) violated(side, operation, "was answered before one that was asked earlier");
    if (operation.request.wr_id < done && seen != Arrival::kWhole) {
      violated(side, operation, "succeeded without its whole response");
    }
    over = over || seen != Arrival::kWhole;
  }
}

// Each FetchAdd takes effect once, or not at all if it did not succeed.
void Judge::check_adds(Side side) {
  if (part(side).counter.region == nullptr) return;
  const std::uint64_t done = word_at(part(side).counter) - kCounterStart;
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  for (const Operation& operation : part(side).operations) {
    if (operation.request.opcode != Opcode::kFetchAdd) continue;
    if (operation.request.wr_id < succeeded(side)) ++least;
    if (was_posted(side, operation)) ++most;
  }
  if (done >= least && done <= most) return;
  violated(side, std::to_string(done) + " FetchAdds took effect, of which " +
                     std::to_string(least) + " succeeded and " + std::to_string(most) +
                     " were posted");
}

}  // namespace iwarp::verbs::simtest::schedules
