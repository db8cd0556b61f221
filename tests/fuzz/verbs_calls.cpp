#include <algorithm>

#include "fuzz/verbs_world.hpp"

// What the program of a VerbsWorld calls.
namespace iwarp::fuzz {
namespace {

using verbs::Access;
using verbs::SendFlags;
using verbs::SendWr;
using verbs::Sge;

Access some_access(Input& input) { return static_cast<Access>(input.octet() & 0x7FU); }

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

Stag with_key(Stag stag, std::uint8_t key) { return Stag{(stag.value() & 0xFFFFFF00U) | key}; }

bool is_atomic(verbs::Opcode opcode) {
  return opcode == verbs::Opcode::kFetchAdd || opcode == verbs::Opcode::kCmpSwap;
}

}  // namespace

// Inside its region, if its memory is read at once.
Sge VerbsWorld::some_sge(Input& input, bool within) {
  const std::uint8_t which = input.octet();
  const std::size_t index = which % kRegions;
  const Region& region = *regions_[index];
  std::uint64_t at = input.octet();
  std::uint32_t length = input.octet();
  const std::size_t size = region.memory.size();
  if (within || which < 0xE0) {
    at %= size;
    length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, size - at));
  } else if (length == 0xFF) {
    length = input.word32();
  }
  const bool from_zero = index == kZeroBased && !within;
  const Stag key = which >= 0xF0 ? some_stag(input) : keys_.at(index);
  return {pointer(from_zero ? at : address(region, at)), length, key};
}

std::vector<Sge> VerbsWorld::some_sges(Input& input, verbs::Opcode opcode, bool in_line) {
  std::vector<Sge> list;
  const std::uint8_t count = input.octet();
  if (is_atomic(opcode) && count < 0xF0) {
    list.push_back(some_sge(input, in_line));
    list[0].length = 8;
    return list;
  }
  for (unsigned i = count % 5U; i > 0; --i) list.push_back(some_sge(input, in_line));
  return list;
}

verbs::BindWr VerbsWorld::some_bind(Input& input) {
  const std::uint8_t which = input.octet();
  verbs::BindWr bind;
  if ((which & 1U) != 0) {
    bind.window = with_key(window2_->rkey(), (which & 2U) != 0 ? input.octet() : which);
  } else {
    bind.window = (which & 2U) != 0 ? some_stag(input) : window1_->next_rkey();
  }
  const std::size_t index = (which & 4U) != 0 ? which / 8U % kRegions : kBindable;
  const std::uint64_t at = input.octet();
  bind.region = keys_.at(index);
  bind.address = pointer(address(*regions_[index], at));
  bind.length = input.octet();
  bind.access = some_access(input);
  return bind;
}

// Only of memory that is there: that is the program's part of the contract.
verbs::RegisterWr VerbsWorld::some_registration(Input& input) {
  const std::uint8_t which = input.octet();
  const std::size_t at = input.octet() % fast_memory_.size();
  const std::size_t length = std::min<std::size_t>(input.octet(), fast_memory_.size() - at);
  const Stag stag = (which & 1U) != 0 ? with_key(fast_->stag(), which) : fast_->stag();
  return {which >= 0xF0 ? some_stag(input) : stag, fast_memory_.data() + at, length,
          some_access(input)};
}

void VerbsWorld::post(SendWr request, std::size_t times) {
  std::vector<SendWr> list(times, request);
  std::uint64_t id = next_id_;
  for (SendWr& each : list) each.wr_id = id++;
  const auto posted = pair_.end.qp->post_send(list);
  const std::size_t count = posted ? list.size() : posted.error().index;
  require(count <= list.size(), "no more is posted than was given");
  for (std::size_t i = 0; i < count; ++i) {
    sends_.push_back({next_id_++, all_signaled_ || has(request.flags, SendFlags::kSignaled)});
  }
}

void VerbsWorld::post_send(Input& input) {
  SendWr request;
  const std::uint8_t opcode = input.octet();
  const std::uint8_t flags = input.octet();
  request.opcode = static_cast<verbs::Opcode>(opcode % 12U);  // one more than there are
  request.flags = static_cast<SendFlags>(flags & 0x0FU);
  const auto sges = some_sges(input, request.opcode, has(request.flags, SendFlags::kInline));
  request.sges = sges;
  request.remote_stag = Stag{0x1234};
  request.remote_offset = std::uint64_t{flags} * 8U;
  request.atomic = {.data = opcode, .mask = flags};
  verbs::BindWr bind;
  verbs::RegisterWr registration;
  if (request.opcode == verbs::Opcode::kBindWindow) {
    bind = some_bind(input);
    request.bind = &bind;
    if ((flags & 0x80U) == 0) request.sges = {};
  } else if (request.opcode == verbs::Opcode::kRegister) {
    registration = some_registration(input);
    request.registration = &registration;
    if ((flags & 0x80U) == 0) request.sges = {};
  } else if (request.opcode == verbs::Opcode::kInvalidate ||
             request.opcode == verbs::Opcode::kSendInvalidate) {
    request.invalidate_stag = some_stag(input);
    if (request.opcode == verbs::Opcode::kInvalidate) request.sges = {};
  } else if (request.opcode == verbs::Opcode::kImmediate) {
    request.sges = {};
  }
  post(request, 1U + (flags >> 4U) % 4U);
}

void VerbsWorld::post_receive(Input& input) {
  std::vector<Sge> sges;
  const std::uint8_t count = input.octet();
  for (unsigned i = count % 4U; i > 0; --i) sges.push_back(some_sge(input, false));
  // Mostly memory that a receive may fill.
  if (count < 0xE0) {
    for (Sge& sge : sges) {
      sge = {pointer(address(*regions_[kInbox], sge.length % 64U)), sge.length % 64U,
             keys_[kInbox]};
    }
  }
  const verbs::RecvWr request{.wr_id = receives_.size() + 1, .sges = sges};
  const auto posted = pair_.end.srq ? pair_.end.srq->post_receive({&request, 1})
                                    : pair_.end.qp->post_receive({&request, 1});
  if (posted) receives_.push_back({request.wr_id, true});
}

void VerbsWorld::change_memory(Input& input) {
  const std::uint8_t which = input.octet();
  const std::size_t index = which % kRegions;
  Region& region = *regions_[index];
  if (!region.mr) return;
  if (which < 0xC0) {
    region.mr.reset();
    deregistered_.at(index).emplace(region.memory.bytes().begin(), region.memory.bytes().end());
  } else if (index != kReadable && index != kSource && index != kForeign) {
    auto& mr = dynamic_cast<verbs::soft::SoftMr&>(*region.mr);
    const auto part = region.memory.bytes().first(input.octet() % (region.memory.size() + 1U));
    if (mr.reregister(pair_.end.pd, part, some_access(input))) keys_.at(index) = mr.rkey();
  }
}

void VerbsWorld::call(Input& input) {
  const std::uint8_t what = input.octet();
  auto& end = pair_.end;
  switch (what % 10) {
    case 0: return end.qp->disconnect();
    case 1: return end.qp->abort();
    case 2: end.collects = !end.collects; return;
    case 3:
      return end.recv_cq->arm((what & 0x10U) != 0 ? verbs::provider::Arm::kSolicited
                                                  : verbs::provider::Arm::kAny);
    case 4: end.recv_cq->take_event(); return;
    case 5: static_cast<void>(end.send_cq->resize(1U + input.octet() % 8U)); return;
    case 6:
      if (end.srq) static_cast<void>(end.srq->arm_limit(what / 16U));
      return;
    case 7: window2_ = make_window(verbs::WindowType::k2); return;
    case 8: window1_ = make_window(verbs::WindowType::k1); return;
    default: fast_ = make_fast_region();
  }
}

}  // namespace iwarp::fuzz
