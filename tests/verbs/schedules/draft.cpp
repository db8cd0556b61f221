#include "verbs/schedules/draft.hpp"

#include <algorithm>
#include <cstring>

namespace iwarp::verbs::simtest::schedules {
namespace {

// The first octet of a region from `at` on whose address is a multiple of 8.
std::size_t aligned(Region& region, std::size_t at) { return at + (8 - region.to(at) % 8) % 8; }

void put_word(const Place& place, std::uint64_t word) {
  std::memcpy(place.region->memory.data() + place.at, &word, sizeof word);
}

}  // namespace

// ---- What everything is made of ----

const QpCapacity& Draft::capacity(Side side) const {
  return (side == Side::kClient ? setting_.pair.client : setting_.pair.server).capacity;
}

std::uint16_t Draft::ord(Side side) const {
  return (side == Side::kClient ? setting_.pair.client_depths : setting_.pair.server_depths).ord;
}

std::uint32_t Draft::draw_length() {
  if (random_.one_in(8)) return 0;
  return random_.one_in(3) ? random_.between(1, std::min(setting_.longest, 40U))
                           : random_.between(1, setting_.longest);
}

// No octet is 0.
void Draft::fill(MutableBytes octets) {
  while (!octets.empty()) {
    const std::uint64_t word = random_.word() | 0x0101010101010101U;
    const std::size_t size = std::min(octets.size(), sizeof word);
    std::memcpy(octets.data(), &word, size);
    octets = octets.subspan(size);
  }
}

Region& Draft::region(Side owner, std::size_t size, Access access) {
  Region& made = end(owner).region(std::max<std::size_t>(size, 1), access);
  program_.regions[static_cast<std::size_t>(owner)].push_back(&made);
  return made;
}

void Draft::hold_constant(const Region& region) {
  const ConstBytes octets = region.memory.bytes();
  program_.constants.push_back({&region, {octets.begin(), octets.end()}});
}

Draft::Opening Draft::open_plain(Side owner, std::uint32_t length, Access access) {
  const bool zero_based = random_.one_in(4);
  if (zero_based) access = access | Access::kZeroBased;
  Region& made = region(owner, length + 2 * kGap, access);
  return {&made, made.key(), zero_based ? kGap : made.to(kGap), kGap};
}

Operation& Draft::add(Side by, Opcode opcode) {
  Part& part = program_.of(by);
  Operation& operation = part.operations.emplace_back();
  operation.request.wr_id = part.operations.size() - 1;
  operation.request.opcode = opcode;
  operation.request.flags = random_.one_in(3) ? SendFlags::kNone : SendFlags::kSignaled;
  const auto maybe = [&](std::uint32_t chance, SendFlags flag) {
    if (random_.one_in(chance)) operation.request.flags = operation.request.flags | flag;
  };
  maybe(8, SendFlags::kFence);
  if (opcode != Opcode::kWrite && opcode != Opcode::kRead) maybe(4, SendFlags::kSolicited);
  return operation;
}

// Cuts a range into pieces, some of them empty.
std::vector<Sge> Draft::split(Region& region, std::size_t at, std::size_t length,
                              std::uint32_t most) {
  const std::uint32_t count = random_.between(length == 0 ? 0 : 1, most);
  std::vector<Sge> sges;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const std::size_t size = last ? length : random_.between(0, static_cast<std::uint32_t>(length));
    sges.push_back(region.sge(at, size));
    at += size;
    length -= size;
  }
  return sges;
}

void Draft::gather(Operation& operation, Side by, std::uint32_t length) {
  operation.content.resize(length);
  fill(operation.content);
  if (length <= capacity(by).max_inline && random_.one_in(2)) {
    operation.request.flags = operation.request.flags | SendFlags::kInline;
    operation.inline_data = operation.content;
    operation.sges = {{operation.inline_data.data(), length, Stag{random_.word32()}}};
    return;
  }
  Region& source = region(by, length + kGap, Access::kNone);
  std::copy(operation.content.begin(), operation.content.end(), source.memory.data() + kGap);
  operation.sges = split(source, kGap, length, capacity(by).max_send_sge);
  operation.uses.push_back(&source);
  hold_constant(source);
}

// The next receive of the peer is for this operation.
void Draft::take_receive(Operation& operation, Side by, bool for_content) {
  Part& peer = program_.of(other(by));
  const std::size_t length = for_content ? operation.content.size() : random_.below(20);
  const std::size_t most = length + (random_.one_in(2) ? kGap : 0);
  Region& inbox = region(other(by), most, Access::kLocalWrite);
  Receive& receive = peer.receives.emplace_back();
  receive.sges = split(inbox, 0, most, capacity(other(by)).max_recv_sge);
  receive.place = {&inbox, 0};
  receive.operation = operation.request.wr_id;
  operation.receive = peer.receives.size() - 1;
  operation.uses.push_back(&inbox);
  if (for_content) operation.there = receive.place;
}

void Draft::sink(Operation& operation, Side by, std::size_t length) {
  Region& made = region(by, length + 2 * kGap, Access::kLocalWrite);
  operation.sges = split(made, kGap, length, capacity(by).max_send_sge);
  operation.here = {&made, kGap};
  operation.uses.push_back(&made);
}

// A peer that leaves when nobody waits any more must not leave before the last answer.
void Draft::report_last_answer(Part& part) {
  for (auto last = part.operations.rbegin(); last != part.operations.rend(); ++last) {
    if (has(last->request.flags, SendFlags::kSignaled)) return;
    if (last->here.region == nullptr) continue;
    last->request.flags = last->request.flags | SendFlags::kSignaled;
    return;
  }
}

Program Draft::finish() && {
  for (Part& part : program_.parts) report_last_answer(part);
  return std::move(program_);
}

// ---- One operation ----

Operation& Draft::add_send(Side by) {
  const bool invalidates = random_.one_in(5);
  Operation& operation = add(by, invalidates ? Opcode::kSendInvalidate : Opcode::kSend);
  gather(operation, by, draw_length());
  take_receive(operation, by, true);
  if (invalidates) {
    const Region& ended = region(other(by), 16, Access::kRemoteInvalidate);
    operation.request.invalidate_stag = ended.key();
    operation.uses.push_back(&ended);
    hold_constant(ended);
  }
  return operation;
}

void Draft::add_write(Side by, Opcode opcode) {
  const std::uint32_t length = draw_length();
  const auto target = open_plain(other(by), length, Access::kLocalWrite | Access::kRemoteWrite);
  add_write_to(by, opcode, target, length);
}

void Draft::add_write_to(Side by, Opcode opcode, const Opening& opening, std::uint32_t length) {
  Operation& operation = add(by, opcode);
  gather(operation, by, length);
  operation.request.remote_stag = opening.stag;
  operation.request.remote_offset = opening.to;
  operation.there = {opening.region, opening.at};
  operation.uses.push_back(opening.region);
  if (opcode != Opcode::kWriteImmediate) return;
  operation.request.immediate = random_.word();
  take_receive(operation, by, false);
}

void Draft::add_read(Side by) {
  const std::uint32_t length = draw_length();
  add_read_from(by, open_plain(other(by), length, Access::kRemoteRead), length);
}

void Draft::add_read_from(Side by, const Opening& opening, std::uint32_t length) {
  Operation& operation = add(by, Opcode::kRead);
  fill(opening.region->memory.bytes());
  hold_constant(*opening.region);
  const ConstBytes source = opening.region->memory.bytes().subspan(opening.at, length);
  operation.content.assign(source.begin(), source.end());
  operation.request.remote_stag = opening.stag;
  operation.request.remote_offset = opening.to;
  operation.uses.push_back(opening.region);
  sink(operation, by, length);
}

void Draft::add_immediate(Side by) {
  Operation& operation = add(by, Opcode::kImmediate);
  operation.request.immediate = random_.word();
  take_receive(operation, by, false);
}

void Draft::atomic(Operation& operation, Side by, const Place& word, std::uint64_t original) {
  operation.word = word;
  operation.request.remote_stag = word.region->key();
  operation.request.remote_offset = word.region->to(word.at);
  operation.content.resize(sizeof original);
  std::memcpy(operation.content.data(), &original, sizeof original);
  operation.uses.push_back(word.region);
  sink(operation, by, sizeof original);
}

void Draft::add_fetch_add(Side by) {
  Part& part = program_.of(by);
  Operation& operation = add(by, Opcode::kFetchAdd);
  if (part.counter.region == nullptr) {
    Region& made = region(other(by), 32, Access::kLocalWrite | Access::kRemoteAtomic);
    part.counter = {&made, aligned(made, kGap)};
    put_word(part.counter, kCounterStart);
  }
  operation.request.atomic.data = 1;
  atomic(operation, by, part.counter, kCounterStart + part.adds++);
}

void Draft::add_cmp_swap(Side by) {
  Operation& operation = add(by, Opcode::kCmpSwap);
  Region& made = region(other(by), 32, Access::kLocalWrite | Access::kRemoteAtomic);
  const Place word{&made, aligned(made, kGap)};
  const std::uint64_t before = random_.word() | 0x0101010101010101U;
  const std::uint64_t data = random_.word();
  const bool equal = !random_.one_in(3);
  put_word(word, before);
  operation.request.atomic = {data, UINT64_MAX, equal ? before : ~before, UINT64_MAX};
  operation.swapped = equal ? data : before;
  atomic(operation, by, word, before);
}

void Draft::add_some(Side by) {
  const bool answers = ord(by) != 0;  // with an ORD of 0 nothing that has an answer is posted
  switch (random_.below(16)) {
    case 0:
    case 1:
    case 2: add_write(by, Opcode::kWrite); return;
    case 3:
    case 4:
      if (answers) return add_read(by);
      break;
    case 5: add_immediate(by); return;
    case 6: add_write(by, Opcode::kWriteImmediate); return;
    case 7:
    case 8:
      if (answers) return add_fetch_add(by);
      break;
    case 9:
      if (answers) return add_cmp_swap(by);
      break;
    case 10:
    case 11:
    case 12: add_opened(by); return;
    default: break;
  }
  add_send(by);
}

}  // namespace iwarp::verbs::simtest::schedules
