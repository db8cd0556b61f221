#include "work/post.hpp"

#include <boost/container/static_vector.hpp>
#include <cerrno>

#include "core/context.hpp"
#include "core/errors.hpp"
#include "core/memory.hpp"
#include "core/qp.hpp"
#include "work/completion.hpp"

namespace iwarp::compat {
namespace {

constexpr std::size_t kBatch = 32;

using verbs::Opcode;
using verbs::SendFlags;

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

std::optional<Opcode> opcode_of(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE: return Opcode::kWrite;
    case IBV_WR_RDMA_WRITE_WITH_IMM: return Opcode::kWriteImmediate;
    case IBV_WR_SEND: return Opcode::kSend;
    case IBV_WR_RDMA_READ: return Opcode::kRead;
    case IBV_WR_ATOMIC_CMP_AND_SWP: return Opcode::kCmpSwap;
    case IBV_WR_ATOMIC_FETCH_AND_ADD: return Opcode::kFetchAdd;
    case IBV_WR_LOCAL_INV: return Opcode::kInvalidate;
    case IBV_WR_BIND_MW: return Opcode::kBindWindow;
    case IBV_WR_SEND_WITH_INV: return Opcode::kSendInvalidate;
    default: return std::nullopt;  // iWARP has no such message
  }
}

// The n-th request behind `first`.
template <typename Wr>
Wr* behind(Wr* first, std::size_t n) {
  for (; n > 0; --n) first = first->next;
  return first;
}

}  // namespace

SendFlags flags_of(unsigned from) {
  SendFlags flags = SendFlags::kNone;
  if ((from & IBV_SEND_SIGNALED) != 0) flags = flags | SendFlags::kSignaled;
  if ((from & IBV_SEND_FENCE) != 0) flags = flags | SendFlags::kFence;
  if ((from & IBV_SEND_SOLICITED) != 0) flags = flags | SendFlags::kSolicited;
  if ((from & IBV_SEND_INLINE) != 0) flags = flags | SendFlags::kInline;
  return flags;
}

verbs::Sge sge_of(const ibv_sge& from) {
  return {pointer(from.addr), from.length, Stag{from.lkey}};
}

// A window has no local side and no memory of its own: flags about these, which programs add as
// they do for regions, say nothing of it.
int fill_bind(const ibv_mw_bind_info& from, std::uint32_t window, verbs::BindWr& to) {
  constexpr unsigned kOfRegions = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND;
  const auto access = access_of(from.mw_access_flags & ~kOfRegions);
  if (!access) return EINVAL;
  to.window = Stag{window};
  to.region = from.mr == nullptr ? Stag{} : Stag{from.mr->lkey};
  to.address = pointer(from.addr);
  to.length = from.length;
  to.access = *access;
  return 0;
}

int errno_of_post(const verbs::PostError& error) {
  return error.code == std::errc::not_enough_memory ? ENOMEM : EINVAL;
}

std::optional<std::span<const verbs::Sge>> SgeRoom::put(const ibv_sge* list, int count) {
  if (list == nullptr && count != 0) return std::nullopt;
  const std::size_t before = sges_.size();
  if (count < 0 || static_cast<std::size_t>(count) > kMostSges - before) return std::nullopt;
  for (; count != 0; --count) sges_.push_back(sge_of(*list++));
  return std::span<const verbs::Sge>(sges_.data() + before, sges_.size() - before);
}

int translate(const ibv_send_wr& from, verbs::SendWr& to, verbs::BindWr& bind) {
  const auto opcode = opcode_of(from.opcode);
  if (!opcode) return EOPNOTSUPP;
  to = {};
  to.wr_id = from.wr_id;
  to.opcode = *opcode;
  to.flags = flags_of(from.send_flags);
  switch (*opcode) {
    case Opcode::kWriteImmediate: to.immediate = immediate_of(from.imm_data); [[fallthrough]];
    case Opcode::kWrite:
    case Opcode::kRead:
      to.remote_stag = Stag{from.wr.rdma.rkey};
      to.remote_offset = from.wr.rdma.remote_addr;
      break;
    case Opcode::kCmpSwap:
    case Opcode::kFetchAdd:
      to.remote_stag = Stag{from.wr.atomic.rkey};
      to.remote_offset = from.wr.atomic.remote_addr;
      if (*opcode == Opcode::kFetchAdd) {
        to.atomic.data = from.wr.atomic.compare_add;
      } else {
        to.atomic.compare = from.wr.atomic.compare_add;
        to.atomic.data = from.wr.atomic.swap;
        to.atomic.mask = UINT64_MAX;
      }
      break;
    case Opcode::kSendInvalidate:
    case Opcode::kInvalidate: to.invalidate_stag = Stag{from.invalidate_rkey}; break;
    case Opcode::kBindWindow:
      to.bind = &bind;
      return fill_bind(from.bind_mw.bind_info, from.bind_mw.rkey, bind);
    default: break;
  }
  return 0;
}

namespace {

// Posts a list, a batch at a time: `translate` makes the stack's request of one, all but its list
// of memory, and `post` submits what has been made. Nothing is filled in beforehand: most lists
// have one request.
template <typename Request, typename Wr, typename Translate, typename Post>
int post_list(Wr* requests, Wr** bad, const Translate& translate, const Post& post) {
  boost::container::static_vector<Request, kBatch> batch;
  SgeRoom room;
  while (requests != nullptr) {
    Wr* const first = requests;
    int error = 0;
    batch.clear();
    room.clear();
    for (; requests != nullptr && batch.size() < kBatch; requests = requests->next) {
      const auto sges = room.put(requests->sg_list, requests->num_sge);
      if (!sges) {
        if (batch.empty()) error = EINVAL;
        break;
      }
      Request& made = batch.emplace_back();
      error = translate(*requests, made);
      made.sges = *sges;
      if (error == 0) continue;
      batch.pop_back();
      break;
    }
    // What is in front of a bad request is posted.
    if (!batch.empty()) {
      const auto posted = post(std::span<const Request>(batch.data(), batch.size()));
      if (!posted) {
        error = errno_of_post(posted.error());
        requests = behind(first, posted.error().index);
      }
    }
    if (error == 0) continue;
    *bad = requests;
    return error;
  }
  return 0;
}

}  // namespace

template <typename Queue>
int post_receives(Queue& queue, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  const auto translate = [](const ibv_recv_wr& from, verbs::RecvWr& to) {
    to.wr_id = from.wr_id;
    return 0;
  };
  return post_list<verbs::RecvWr>(requests, bad, translate,
                                  [&](auto batch) { return queue.post_receive(batch); });
}

template int post_receives(verbs::provider::Srq&, ibv_recv_wr*, ibv_recv_wr**);
template int post_receives(verbs::provider::Qp&, ibv_recv_wr*, ibv_recv_wr**);

int post_recv(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  if (refused(qp->context)) {
    *bad = requests;
    return ENODEV;
  }
  return post_receives(*qp_of(qp).core, requests, bad);
}

int post_send(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** bad) {
  const bool foreign = refused(qp->context);
  if (foreign || (qp_of(qp).without_cm && qp->state < IBV_QPS_RTS)) {
    *bad = requests;
    return foreign ? ENODEV : EINVAL;
  }
  expect_peer(qp_of(qp));
  boost::container::static_vector<verbs::BindWr, kBatch> binds;
  const auto translate_one = [&](const ibv_send_wr& from, verbs::SendWr& to) {
    return translate(from, to, binds.emplace_back());
  };
  return post_list<verbs::SendWr>(requests, bad, translate_one, [&](auto batch) {
    const auto posted = qp_of(qp).core->post_send(batch, verbs::Posting::kUntilRefused);
    binds.clear();
    return posted;
  });
}

// The key of a window of type 1 is its device's to choose.
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* request) {
  if (refused(qp->context)) return ENODEV;
  auto& window = *reinterpret_cast<Mw*>(mw)->core;
  verbs::BindWr bind;
  verbs::SendWr to;
  to.wr_id = request->wr_id;
  to.opcode = Opcode::kBindWindow;
  to.flags = flags_of(request->send_flags);
  to.bind = &bind;
  const Stag key = window.next_rkey();
  if (const int error = fill_bind(request->bind_info, key.value(), bind)) return error;
  const auto posted = qp_of(qp).core->post_send({&to, 1}, verbs::Posting::kUntilRefused);
  if (!posted) return errno_of_post(posted.error());
  mw->rkey = key.value();
  return 0;
}

}  // namespace iwarp::compat
