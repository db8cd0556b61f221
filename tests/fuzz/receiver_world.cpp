#include "fuzz/receiver_world.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace iwarp::fuzz {
namespace {

using ddp::Rights;
using rdmap::Opcode;

constexpr std::size_t kSize = 256;
constexpr std::size_t kWindowAt = 64, kWindowSize = 32;

test::EndpointOptions options_of(Input& input) {
  test::EndpointOptions options;
  Choices choices(input.octet());
  options.first = choices.next(rdmap::FirstMessage::kOrdinary, rdmap::FirstMessage::kMayBeRtrSend);
  options.extensions = choices.next(rdmap::Extensions::kRfc7306, rdmap::Extensions::kNone);
  if (choices.next()) options.rtr = rdmap::Rtr::kRead;
  const std::uint8_t depths = input.octet();
  options.ird = depths % 5U;
  options.ord = depths / 5U % 5U;
  return options;
}

Opcode opcode_of(std::uint8_t rsvd_ulp) {
  return static_cast<Opcode>(rdmap::decode_control(rsvd_ulp).opcode);
}

}  // namespace

ReceiverWorld::ReceiverWorld(Input& input)
    : endpoint_(options_of(input)),
      exposed_(endpoint_.enable(kSize, Rights::kRemoteWrite | Rights::kRemoteRead)),
      readable_(endpoint_.enable(kSize, Rights::kRemoteRead)),
      writable_(endpoint_.enable(kSize, Rights::kRemoteWrite | Rights::kLocalWrite)),
      atomic_(endpoint_.enable(kSize, Rights::kRemoteAtomic)),
      inbox_(endpoint_.enable(kSize, Rights::kLocalWrite)),
      sink_(endpoint_.enable(kSize, Rights::kLocalWrite)),
      shut_(endpoint_.enable(kSize, Rights::kNone)),
      foreign_(endpoint_.enable(kSize,
                                Rights::kRemoteWrite | Rights::kRemoteRead | Rights::kRemoteAtomic |
                                    Rights::kRemoteInvalidate | Rights::kLocalWrite,
                                test::kOtherPd)),
      endable_(endpoint_.enable(kSize, Rights::kRemoteInvalidate | Rights::kRemoteWrite)) {
  ddp::TaggedBuffer part{exposed_.memory.data() + kWindowAt, TaggedOffset{0}, kWindowSize,
                         test::kPd, Rights::kRemoteWrite | Rights::kRemoteInvalidate};
  part.parent = endpoint_.stags.registration_of(exposed_.stag);
  window_ = endpoint_.stags.enable(part).value();
}

// ---- Judging ----

ReceiverWorld::Memory ReceiverWorld::snapshot() {
  Memory memory;
  memory.reserve(endpoint_.regions().size() * kSize);
  for (const Region& region : endpoint_.regions()) {
    memory.insert(memory.end(), region.memory.bytes().begin(), region.memory.bytes().end());
  }
  return memory;
}

void ReceiverWorld::add_list(std::span<const ddp::Sge> list, std::vector<Range>& ranges) {
  for (const ddp::Sge& sge : list) {
    for (const Region& region : endpoint_.regions()) {
      const std::uint64_t at = sge.address - region.base.value();
      if (sge.lkey == region.stag) ranges.push_back({&region, at, at + sge.length});
    }
  }
}

void ReceiverWorld::may_change_by_write(const ddp::TaggedSegment& segment,
                                        std::vector<Range>& ranges) {
  const std::uint64_t to = segment.header.to.value();
  const std::size_t size = segment.payload.size();
  for (const Region* region : {&exposed_, &writable_, &endable_}) {
    const std::uint64_t at = to - region->base.value();
    if (segment.header.stag == region->stag) ranges.push_back({region, at, at + size});
  }
  if (segment.header.stag == window_ && to + size <= kWindowSize) {
    ranges.push_back({&exposed_, kWindowAt + to, kWindowAt + to + size});
  }
}

void ReceiverWorld::may_change_by_message(QueueNumber qn, std::vector<Range>& ranges) {
  const std::size_t taken = endpoint_.receives.taken();
  if (qn == rdmap::kSendQueueNumber) {
    for (std::size_t n = taken == 0 ? 0 : taken - 1; n < endpoint_.receives.posted(); ++n) {
      add_list(endpoint_.receives.sges(n), ranges);
    }
  } else if (qn == rdmap::kReadRequestQueueNumber) {
    ranges.push_back({&atomic_, 0, kSize});
  } else if (qn == rdmap::kAtomicResponseQueueNumber && endpoint_.reads.due() != nullptr) {
    add_list(endpoint_.reads.due()->sink, ranges);
  }
}

// By the header alone, as simply as can be: what the peer was given.
std::vector<ReceiverWorld::Range> ReceiverWorld::may_change(ConstBytes ulpdu) {
  std::vector<Range> ranges;
  const auto parsed = ddp::parse(ulpdu);
  if (!parsed || ended_) return ranges;
  if (const auto* untagged = std::get_if<ddp::UntaggedSegment>(&*parsed)) {
    may_change_by_message(untagged->header.qn, ranges);
    return ranges;
  }
  const auto& tagged = std::get<ddp::TaggedSegment>(*parsed);
  if (opcode_of(tagged.header.rsvd_ulp) == Opcode::kWrite) {
    may_change_by_write(tagged, ranges);
  } else if (endpoint_.reads.due() != nullptr) {
    add_list(endpoint_.reads.due()->sink, ranges);
  }
  return ranges;
}

void ReceiverWorld::check_changes(const Memory& before, const std::vector<Range>& allowed) {
  const ConstBytes all(before);
  for (std::size_t i = 0; i * kSize < all.size(); ++i) {
    const Region& region = endpoint_.regions()[i];
    const ConstBytes then = all.subspan(i * kSize, kSize);
    if (std::memcmp(then.data(), region.memory.bytes().data(), kSize) == 0) continue;
    for (std::size_t at = 0; at < kSize; ++at) {
      if (then[at] == region.memory.bytes()[at]) continue;
      const bool may = std::any_of(allowed.begin(), allowed.end(), [&](const Range& range) {
        return range.region == &region && at >= range.from && at < range.to;
      });
      require(may, "only what the peer was given changes");
    }
  }
}

void ReceiverWorld::deliver(ConstBytes ulpdu) {
  const Exact exact(ulpdu);
  const auto allowed = may_change(exact.bytes());
  const Memory before = snapshot();
  const auto progress = [this] {
    return std::array{endpoint_.receives.taken(), std::size_t{endpoint_.responses.tail()},
                      std::size_t{endpoint_.reads.finished()}};
  };
  const auto progress_before = progress();
  const auto outcome = endpoint_.receive(exact.bytes());
  check_changes(before, allowed);
  if (ended_) {
    require(
        outcome && std::holds_alternative<rdmap::Placed>(*outcome) && progress() == progress_before,
        "nothing happens behind the end");
    return;
  }
  ended_ = !outcome || std::holds_alternative<rdmap::Terminate>(*outcome);
  if (outcome) check_event(*outcome, exact.bytes());
}

void ReceiverWorld::check_event(const rdmap::Event& event, ConstBytes ulpdu) {
  require(follow(ulpdu), "only the segment that is due is taken");
  if (std::holds_alternative<rdmap::ReadRequestDelivered>(event)) {
    check_read(endpoint_.responses.at(endpoint_.responses.tail() - 1).read);
  }
  const auto* delivered = std::get_if<rdmap::SendDelivered>(&event);
  if (delivered == nullptr) return;
  const std::size_t taken = endpoint_.receives.taken();
  require(taken != 0 && delivered->cookie == taken - 1, "a Send is delivered where it was placed");
  require(delivered->immediate ||
              delivered->length <= ddp::total_length(endpoint_.receives.sges(taken - 1)),
          "a Send fits its receive");
  const auto ended = delivered->invalidated;
  require(!ended || *ended == endable_.stag || *ended == window_,
          "a peer ends only what is its to end");
}

void ReceiverWorld::check_read(const rdmap::ReadRequest& request) {
  const std::uint64_t at = request.source_to.value() - exposed_.base.value();
  const bool open = request.source_stag == exposed_.stag || request.source_stag == readable_.stag;
  require(request.size == 0 || (open && at <= kSize && request.size <= kSize - at),
          "a peer reads only what it was given");
}

void ReceiverWorld::finish() {
  const Memory before = snapshot();
  endpoint_.receiver.abandon();
  require(!endpoint_.receiver.abandon(), "a half-received message gives its receive back once");
  ended_ = true;
  deliver(
      test::segment(test::tagged(Opcode::kWrite, exposed_.stag, exposed_.base), test::pattern(8)));
  check_changes(before, {});
  require(endpoint_.canaries_intact(), "nothing is written beside a region");
}

}  // namespace iwarp::fuzz
