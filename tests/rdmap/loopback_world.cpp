#include "rdmap/loopback_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace iwarp::test {

using ddp::Rights;
using rdmap::Operation;
using rdmap::Rtr;

std::vector<ddp::Sge> Side::Landing::allot(std::uint32_t length, Random& random) {
  std::vector<ddp::Sge> list;
  while (length > 0 || random.one_in(4)) {
    if (list.size() == 7) break;
    const std::uint32_t most = list.size() == 6 ? length : random.below(length + 1);
    const std::uint32_t gap = kSize - used > length + 8 ? random.below(4) : 0;
    used += gap;
    list.push_back(region.sge(used, most));
    for (std::uint32_t i = 0; i < most; ++i) allotted[used + i] = true;
    used += most;
    length -= most;
  }
  return list;
}

void Side::Landing::expect(const std::vector<ddp::Sge>& list, ConstBytes data) {
  for (const ddp::Sge& sge : list) {
    const std::size_t size = std::min<std::size_t>(sge.length, data.size());
    const auto at = static_cast<std::ptrdiff_t>(sge.address - region.base.value());
    std::copy_n(data.begin(), size, image.begin() + at);
    data = data.subspan(size);
  }
  EXPECT_TRUE(data.empty());
}

bool Side::Landing::holds_image() const {
  const ConstBytes now = region.memory.bytes();
  return std::equal(now.begin(), now.end(), image.begin());
}

bool Side::Landing::rest_untouched() const {
  const ConstBytes now = region.memory.bytes();
  for (std::size_t i = 0; i < kSize; ++i) {
    if (!allotted[i] && now[i] != std::byte{0}) return false;
  }
  return true;
}

Side::Side(const EndpointOptions& with)
    : options(with),
      endpoint(options),
      source(endpoint.enable(4000, Rights::kRemoteRead, kPd, 0)),
      shut(endpoint.enable(500, Rights::kNone)),
      foreign(endpoint.enable(500,
                              Rights::kLocalWrite | Rights::kRemoteWrite | Rights::kRemoteRead |
                                  Rights::kRemoteInvalidate,
                              kOtherPd)),
      exposed(endpoint.enable(kSize, Rights::kRemoteWrite)),
      sink(endpoint.enable(kSize, Rights::kLocalWrite, kPd, 0x1000)),
      inbox(endpoint.enable(kSize, Rights::kLocalWrite)) {
  const Ulpdu data = pattern(source.memory.size(), static_cast<unsigned>(options.secret));
  std::copy(data.begin(), data.end(), source.memory.data());
}

std::vector<ddp::Sge> Side::gather(std::uint32_t length, Random& random, Ulpdu& data) {
  std::vector<ddp::Sge> list;
  for (std::uint32_t left = length; left > 0 || random.one_in(4);) {
    if (list.size() == 8) break;
    const std::uint32_t size = list.size() == 7 ? left : random.below(left + 1);
    const std::uint32_t at = random.below(4000 - size + 1);
    list.push_back(source.sge(at, size));
    const ConstBytes part = source.part(at, size);
    data.insert(data.end(), part.begin(), part.end());
    left -= size;
  }
  return list;
}

void Side::transmit(Random& random) {
  rdmap::Transmitter& transmitter = endpoint.transmitter;
  std::vector<rdmap::Transmitter::Cursor> cursors{transmitter.cursor()};
  std::vector<Ulpdu> planned;
  const std::size_t mulpdu =
      random.one_in(3) ? random.between(128, 200) : random.between(128, 1500);
  for (std::uint32_t n = random.below(9); n > 0; --n) {
    const auto segment = transmitter.next(mulpdu);
    if (!segment) break;
    auto ulpdu = endpoint.assemble(*segment);
    if (!ulpdu) break;
    EXPECT_LE(ulpdu->size(), mulpdu);
    planned.push_back(std::move(*ulpdu));
    cursors.push_back(transmitter.cursor());
  }
  endpoint.responses.planned(transmitter.cursor().response);
  const std::size_t keep = random.one_in(2)
                               ? planned.size()
                               : random.below(static_cast<std::uint32_t>(planned.size()) + 1);
  transmitter.rewind(cursors[keep]);
  endpoint.responses.planned(transmitter.cursor().response);
  for (std::size_t i = 0; i < keep; ++i) wire.push_back(std::move(planned[i]));
  endpoint.retire();
}

bool Side::silent() {
  const auto cursor = endpoint.transmitter.cursor();
  const bool nothing = !endpoint.transmitter.next(1500).has_value();
  endpoint.transmitter.rewind(cursor);
  return nothing;
}

void expect_landed(const Side& side) {
  EXPECT_TRUE(side.expected.empty()) << "Sends that were not delivered";
  EXPECT_EQ(side.writes_due, 0U);
  EXPECT_TRUE(side.exposed.holds_image());
  EXPECT_TRUE(side.sink.holds_image());
  EXPECT_TRUE(side.inbox.holds_image());
  EXPECT_TRUE(side.endpoint.canaries_intact());
}

World::World(std::uint64_t seed) : random(seed) {
  EndpointOptions options[2];
  for (int i = 0; i < 2; ++i) {
    options[i].secret = seed * 2 + static_cast<std::uint64_t>(i);
    options[i].ird = random.between(1, 5);
    options[i].depth = random.between(1, 20);
  }
  for (int i = 0; i < 2; ++i) options[i].ord = random.between(1, options[1 - i].ird);
  constexpr Rtr kRtrs[] = {Rtr::kNone, Rtr::kSend, Rtr::kWrite, Rtr::kRead};
  options[0].rtr = kRtrs[random.below(4)];
  if (options[0].rtr == Rtr::kSend) options[1].first = rdmap::FirstMessage::kMayBeRtrSend;
  for (int i = 0; i < 2; ++i) sides[i] = std::make_unique<Side>(options[i]);
  if (options[0].rtr == Rtr::kWrite) ++sides[1]->writes_due;
}

void World::run(std::uint32_t operations) {
  constexpr int kMany = 200000;
  run_for(operations, kMany);
  EXPECT_TRUE(quiet()) << "never comes to an end";
}

void World::run_for(std::uint32_t operations, int steps) {
  operations_ = operations;
  for (int i = 0; i < steps; ++i) {
    step();
    if (i % 16 == 0 && quiet()) return;
  }
}

void World::step() {
  const std::uint32_t n = random.below(2);
  Side& from = *sides[n];
  Side& to = *sides[1 - n];
  switch (random.below(4)) {
    case 0: return post(from, to);
    case 1: return transmit(from);
    default: return convey(from, to);
  }
}

bool World::quiet() {
  for (const auto& side : sides) {
    if (side->posted < operations_ || !silent(*side)) return false;
  }
  return true;
}

void World::carry(std::deque<Ulpdu>& wire, Side& to) {
  const Ulpdu ulpdu = std::move(wire.front());
  wire.pop_front();
  deliver(ulpdu, to);
}

void World::deliver(const Ulpdu& ulpdu, Side& to) {
  const auto outcome = to.endpoint.receive(ulpdu);
  ASSERT_TRUE(outcome) << rdmap::describe(outcome.error().terminate.cause);
  to.endpoint.retire();
  if (std::holds_alternative<rdmap::PlacedWrite>(*outcome)) --to.writes_due;
  const auto* sent = std::get_if<rdmap::SendDelivered>(&*outcome);
  if (sent != nullptr) expect_due(*sent, to);
}

void World::expect_due(const rdmap::SendDelivered& sent, Side& to) {
  ASSERT_FALSE(to.expected.empty());
  const ExpectedSend expected = std::move(to.expected.front());
  to.expected.pop_front();
  EXPECT_EQ(sent.cookie, expected.cookie);
  EXPECT_EQ(sent.length, expected.payload.size());
  EXPECT_EQ(sent.solicited, expected.solicited);
  EXPECT_EQ(sent.invalidated, expected.invalidated);
  if (expected.invalidated) {
    EXPECT_FALSE(to.endpoint.stags.disable(*expected.invalidated)) << "still in force";
  }
}

std::uint32_t World::some_length() {
  if (random.one_in(6)) return 0;
  return random.one_in(2) ? random.below(120) : random.below(longest_);
}

void World::post(Side& from, Side& to) {
  if (from.posted == operations_ || from.endpoint.requests.full()) return;
  ++from.posted;
  switch (random.below(3)) {
    case 0: return post_send(from, to);
    case 1: return post_write(from, to);
    default: return post_read(from, to);
  }
}

void World::post_send(Side& from, Side& to) {
  constexpr Operation kKinds[] = {Operation::kSend, Operation::kSendInvalidate,
                                  Operation::kSendSolicited, Operation::kSendSolicitedInvalidate};
  const std::uint32_t kind = random.below(4);
  const std::uint32_t length = some_length();
  const std::uint32_t room = length + random.below(20);
  if (!to.inbox.has_room(room)) return;
  ExpectedSend expected;
  expected.cookie = to.receives_posted++;
  expected.solicited = kind >= 2;
  rdmap::Request request = request_of(kKinds[kind]);
  if (kind % 2 != 0) {
    request.invalidate = to.endpoint.enable(16, Rights::kRemoteInvalidate).stag;
    expected.invalidated = request.invalidate;
  }
  const auto list = from.gather(length, random, expected.payload);
  const auto landing = to.inbox.allot(room, random);
  to.endpoint.receives.post(expected.cookie, landing);
  to.inbox.expect(landing, expected.payload);
  to.expected.push_back(expected);
  if (length <= 64 && random.one_in(2)) {
    from.endpoint.post_inline(request, expected.payload);
  } else {
    from.endpoint.post(request, list);
  }
}

void World::post_write(Side& from, Side& to) {
  const std::uint32_t length = some_length();
  if (!to.exposed.has_room(length)) return;
  const std::uint32_t at = to.exposed.used;
  to.exposed.used += length;
  Ulpdu data;
  const auto list = from.gather(length, random, data);
  to.exposed.expect({to.exposed.region.sge(at, length)}, data);
  ++to.writes_due;
  auto request = request_of(Operation::kWrite, to.exposed.region.stag, to.exposed.region.to(at));
  if (random.one_in(5)) request.fence = rdmap::Fence::kYes;
  from.endpoint.post(request, list);
}

void World::post_read(Side& from, Side& to) {
  const std::uint32_t length = some_length();
  if (!from.sink.has_room(length)) return;
  const std::uint32_t at = random.below(4000 - length + 1);
  const auto landing = from.sink.allot(length, random);
  from.sink.expect(landing, to.source.part(at, length));
  from.endpoint.post(request_of(Operation::kRead, to.source.stag, to.source.to(at)), landing);
}

}  // namespace iwarp::test
