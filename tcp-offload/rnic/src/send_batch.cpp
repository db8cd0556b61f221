#include "send_batch.hpp"

#include "memory.hpp"

namespace iwarp::rnic {
namespace {

using verbs::Opcode;
using verbs::SendFlags;

ibv_wr_opcode opcode_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kSendInvalidate: return IBV_WR_SEND_WITH_INV;
    case Opcode::kWrite: return IBV_WR_RDMA_WRITE;
    case Opcode::kRead: return IBV_WR_RDMA_READ;
    case Opcode::kBindWindow: return IBV_WR_BIND_MW;
    case Opcode::kInvalidate: return IBV_WR_LOCAL_INV;
    default: return IBV_WR_SEND;
  }
}

unsigned flags_of(SendFlags flags, bool signaled) {
  unsigned native = signaled ? unsigned{IBV_SEND_SIGNALED} : 0U;
  if (has(flags, SendFlags::kFence)) native |= IBV_SEND_FENCE;
  if (has(flags, SendFlags::kSolicited)) native |= IBV_SEND_SOLICITED;
  if (has(flags, SendFlags::kInline)) native |= IBV_SEND_INLINE;
  return native;
}

ibv_mw_bind_info bind_info_of(const verbs::BindWr& bind, ibv_mr* region) {
  return {region, reinterpret_cast<std::uintptr_t>(bind.address), bind.length,
          native_access(bind.access)};
}

void put_remote(const verbs::SendWr& request, const BindTargets& bind, ibv_send_wr& wr) {
  switch (request.opcode) {
    case Opcode::kWrite:
    case Opcode::kRead: wr.wr.rdma = {request.remote_offset, request.remote_stag.value()}; return;
    case Opcode::kBindWindow:
      wr.bind_mw = {bind.window, request.bind->window.value(),
                    bind_info_of(*request.bind, bind.region)};
      return;
    default:
      wr.invalidate_rkey = request.invalidate_stag.value();
      wr.wr.rdma.rkey = request.invalidate_stag.value();  // where siw's library looks for it
  }
}

}  // namespace

ibv_sge* copy_sges(std::span<const verbs::Sge> sges, ibv_sge* into) {
  for (const verbs::Sge& each : sges) {
    *into++ = {reinterpret_cast<std::uintptr_t>(each.address), each.length, each.lkey.value()};
  }
  return into;
}

void SendBatch::add(const verbs::SendWr& request, const WorkSlot& slot, const BindTargets& bind) {
  ibv_send_wr& wr = requests_[count_];
  wr = {};
  wr.wr_id = reinterpret_cast<std::uintptr_t>(&slot);
  wr.opcode = opcode_of(request.opcode);
  wr.send_flags = flags_of(request.flags, slot.signaled);
  wr.sg_list = elements_.data() + sges_;
  wr.num_sge = static_cast<int>(request.sges.size());
  copy_sges(request.sges, wr.sg_list);
  sges_ += request.sges.size();
  put_remote(request, bind, wr);
  if (count_ != 0) requests_[count_ - 1].next = &wr;
  ++count_;
}

}  // namespace iwarp::rnic
