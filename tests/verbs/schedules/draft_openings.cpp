#include "verbs/schedules/draft.hpp"

// Memory that one side opens to the other in the course of things: windows and fast regions.
namespace iwarp::verbs::simtest::schedules {
namespace {

constexpr Access kRemote = Access::kRemoteWrite | Access::kRemoteRead;

Stag with_key(Stag stag, std::uint8_t key) { return Stag{(stag.value() & 0xFFFFFF00U) | key}; }

}  // namespace

// The other side opens a range, says so, and this one uses it; then one of them may end it.
void Draft::add_opened(Side by) {
  const Side owner = other(by);
  const auto opener = static_cast<Opener>(random_.below(3));
  const std::uint32_t length = random_.between(1, setting_.longest);
  const bool zero_based = random_.one_in(3);
  Region& memory = region(owner, length + 2 * kGap, Access::kLocalWrite | Access::kWindowBind);
  Opening opening{&memory, {}, zero_based ? 0 : memory.to(kGap), kGap};
  opening.stag = open(owner, opener, opening, length, zero_based);
  const std::size_t told = *add_send(owner).receive;
  const bool read = ord(by) != 0 && random_.one_in(2);
  if (read) {
    add_read_from(by, opening, length);
  } else {
    add_write_to(by, Opcode::kWrite, opening, length);
  }
  program_.of(by).operations.back().hears = told;
  if (!random_.one_in(3)) close(by, opener, opening, read);
}

Stag Draft::open(Side owner, Opener opener, const Opening& opening, std::uint32_t length,
                 bool zero) {
  auto& registry = end(owner).host->registry;
  const auto& pd = end(owner).pd;
  Part& part = program_.of(owner);
  std::byte* const address = opening.region->memory.data() + opening.at;
  const Access access = zero ? kRemote | Access::kZeroBased : kRemote;
  const auto key = static_cast<std::uint8_t>(random_.octet());
  if (opener == Opener::kFastRegion) {
    const Stag made = registry->reserve(soft::Reserved::kFastRegion, pd->id()).value();
    part.fast_regions.push_back(std::make_shared<soft::SoftFastMr>(registry, pd, made));
    Operation& operation = add(owner, Opcode::kRegister);
    operation.registration = {with_key(made, key), address, length, access | Access::kLocalWrite};
    return operation.registration.stag;
  }
  const bool type1 = opener == Opener::kWindow1;
  const auto kind = type1 ? soft::Reserved::kWindow1 : soft::Reserved::kWindow2;
  const Stag made = registry->reserve(kind, pd->id()).value();
  part.windows.push_back(
      std::make_shared<soft::SoftMw>(registry, pd, type1 ? WindowType::k1 : WindowType::k2, made));
  Operation& operation = add(owner, Opcode::kBindWindow);
  const Stag stag = type1 ? part.windows.back()->next_rkey() : with_key(made, key);
  operation.bind = {stag, opening.region->mr->lkey(), address, length, access};
  operation.uses.push_back(opening.region);
  return stag;
}

// The user says when it has done, and what it says may already be the end.
void Draft::close(Side by, Opener opener, const Opening& opening, bool read) {
  const bool remotely = opener != Opener::kWindow1 && random_.one_in(2);
  // A device that has not copied what the peer reads holds on to it, and nobody runs it meanwhile.
  if (!remotely && opener != Opener::kWindow1 && read && !setting_.copies) return;
  Operation& last = add_send(by);
  if (read) last.request.flags = last.request.flags | SendFlags::kFence;
  if (!remotely) return close_at_home(other(by), opener, opening);
  last.request.opcode = Opcode::kSendInvalidate;
  last.request.invalidate_stag = opening.stag;
  last.uses.push_back(opening.region);
}

void Draft::close_at_home(Side owner, Opener opener, const Opening& opening) {
  const std::size_t told = program_.of(owner).receives.size() - 1;
  Operation& operation =
      add(owner, opener == Opener::kWindow1 ? Opcode::kBindWindow : Opcode::kInvalidate);
  operation.hears = told;
  if (opener == Opener::kWindow1) {
    operation.bind.window = opening.stag;
  } else {
    operation.request.invalidate_stag = opening.stag;
  }
  operation.uses.push_back(opening.region);
}

}  // namespace iwarp::verbs::simtest::schedules
