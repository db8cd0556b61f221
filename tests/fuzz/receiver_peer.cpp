#include <algorithm>

#include "fuzz/receiver_world.hpp"

// The names that the peer of a ReceiverWorld knows, and what that end does itself.
namespace iwarp::fuzz {

using rdmap::Operation;

std::optional<PeerMessages::Due> ReceiverWorld::due() const {
  const auto* due = endpoint_.reads.due();
  if (due == nullptr) return std::nullopt;
  return Due{due->owed, due->sink_stag, due->length};
}

Stag ReceiverWorld::some_stag(Input& input) {
  const std::uint8_t which = input.octet();
  const std::size_t regions = endpoint_.regions().size();
  if (which < 0x80) return endpoint_.regions()[which % regions].stag;
  if (which < 0xA0) return window_;
  if (which < 0xC0) return endpoint_.reads.sink_stag(endpoint_.reads.finished() + which % 4U);
  if (which < 0xE0) return Stag{endpoint_.regions()[which % regions].stag.value() ^ input.octet()};
  return Stag{input.word32()};
}

std::uint64_t ReceiverWorld::some_offset(Input& input, Stag stag) {
  const std::uint64_t base = stag == window_ ? 0 : exposed_.base.value();
  const std::uint8_t at = input.octet();
  switch (input.octet() % 8) {
    case 0: return at;
    case 1: return base + 256U - at;
    case 2: return base - at;
    case 3: return std::uint64_t{0} - at;
    case 4: return input.word64();
    case 5: return base + (at & 0xF8U);
    default: return base + at;
  }
}

void ReceiverWorld::post_receive(Input& input) {
  std::vector<ddp::Sge> list;
  for (std::uint8_t pieces = input.octet() % 4U; pieces > 0; --pieces) {
    const std::uint8_t at = input.octet();
    const std::uint32_t length = input.octet() % 64U;
    // Memory of its own in most cases, but programs err.
    const Stag lkey = at == 0xFF ? some_stag(input) : inbox_.stag;
    list.push_back({inbox_.base.value() + at, length, lkey});
  }
  const std::size_t count = endpoint_.receives.posted();
  if (count < 100) endpoint_.receives.post(count, std::move(list));
}

void ReceiverWorld::post_request(Input& input) {
  if (endpoint_.requests.full()) return;
  const auto operation =
      input.pick({Operation::kRead, Operation::kFetchAdd, Operation::kCmpSwap, Operation::kSend,
                  Operation::kWrite, Operation::kWriteImmediate, Operation::kImmediate,
                  Operation::kSendSolicitedInvalidate});
  auto request = test::request_of(operation, Stag{0x100}, TaggedOffset{0});
  if (rdmap::is_atomic(operation)) {
    endpoint_.post(request, {sink_.sge(input.octet() & 0xF8U, 8)});
  } else if (operation == Operation::kImmediate) {
    endpoint_.post(request);
  } else {
    const std::uint8_t at = input.octet();
    endpoint_.post(request, {sink_.sge(at, input.octet()), sink_.sge(0, input.octet() % 8U)});
  }
}

void ReceiverWorld::transmit(Input& input) {
  const Memory before = snapshot();
  const std::size_t mulpdu = 128U + input.octet();
  for (const Ulpdu& ulpdu : endpoint_.transmit(mulpdu, input.octet() % 16U)) {
    const auto segment = ddp::parse(ulpdu);
    require(segment.has_value(), "what leaves is a segment");
    require(!terminate_left_, "a Terminate is the last to leave");
    const auto* untagged = std::get_if<ddp::UntaggedSegment>(&*segment);
    terminate_left_ = untagged != nullptr && untagged->header.qn == rdmap::kTerminateQueueNumber;
  }
  check_changes(before, {});
}

void ReceiverWorld::act(Input& input) {
  switch (input.octet() % 4) {
    case 0: return post_receive(input);
    case 1: return post_request(input);
    case 2: return transmit(input);
    default: endpoint_.stags.disable(some_stag(input));
  }
}

}  // namespace iwarp::fuzz
