#include "work/qp_batch.hpp"

#include "core/memory.hpp"
#include "core/qp.hpp"
#include "work/completion.hpp"
#include "work/post.hpp"

namespace iwarp::compat {
namespace {

using verbs::Opcode;
using verbs::SendWr;

QpBatch& batch_of(ibv_qp_ex* qp) { return *qp_of(&qp->qp_base).batch; }

SendWr& add_remote(ibv_qp_ex* qp, Opcode opcode, std::uint32_t rkey, std::uint64_t address) {
  SendWr& wr = batch_of(qp).add(*qp, opcode);
  wr.remote_stag = Stag{rkey};
  wr.remote_offset = address;
  return wr;
}

void compare_swap(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, std::uint64_t compare,
                  std::uint64_t swap) {
  SendWr& wr = add_remote(qp, Opcode::kCmpSwap, rkey, address);
  wr.atomic.compare = compare;
  wr.atomic.data = swap;
  wr.atomic.mask = UINT64_MAX;
}

void fetch_add(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, std::uint64_t add) {
  add_remote(qp, Opcode::kFetchAdd, rkey, address).atomic.data = add;
}

void bind_window(ibv_qp_ex* qp, ibv_mw*, std::uint32_t rkey, const ibv_mw_bind_info* info) {
  QpBatch& batch = batch_of(qp);
  batch.add(*qp, Opcode::kBindWindow);
  verbs::BindWr bind;
  if (const int error = fill_bind(*info, rkey, bind)) return batch.fail(error);
  batch.bind(bind);
}

void local_invalidate(ibv_qp_ex* qp, std::uint32_t rkey) {
  batch_of(qp).add(*qp, Opcode::kInvalidate).invalidate_stag = Stag{rkey};
}

void read(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
  add_remote(qp, Opcode::kRead, rkey, address);
}

void write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
  add_remote(qp, Opcode::kWrite, rkey, address);
}

void write_immediate(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, __be32 data) {
  add_remote(qp, Opcode::kWriteImmediate, rkey, address).immediate = immediate_of(data);
}

void send(ibv_qp_ex* qp) { batch_of(qp).add(*qp, Opcode::kSend); }

void send_invalidate(ibv_qp_ex* qp, std::uint32_t rkey) {
  batch_of(qp).add(*qp, Opcode::kSendInvalidate).invalidate_stag = Stag{rkey};
}

void set_inline(ibv_qp_ex* qp, void* address, std::size_t length) {
  const ibv_data_buf buffer{address, length};
  batch_of(qp).set_inline(&buffer, 1);
}

void set_inline_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list) {
  batch_of(qp).set_inline(list, count);
}

void set_sge(ibv_qp_ex* qp, std::uint32_t lkey, std::uint64_t address, std::uint32_t length) {
  const ibv_sge sge{address, length, lkey};
  batch_of(qp).set_sges(&sge, 1);
}

void set_sge_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* list) {
  batch_of(qp).set_sges(list, count);
}

void start(ibv_qp_ex* qp) { batch_of(qp).start(); }
int complete(ibv_qp_ex* qp) {
  if (!refused(qp->qp_base.context)) {
    expect_peer(qp_of(&qp->qp_base));
    return batch_of(qp).complete(*qp_of(&qp->qp_base).core);
  }
  batch_of(qp).abort();
  return ENODEV;
}
void abort(ibv_qp_ex* qp) { batch_of(qp).abort(); }

}  // namespace

// What iWARP has not stays null: a program that asks for it at creation is refused.
void QpBatch::offer(ibv_qp_ex& shown) {
  shown.wr_atomic_cmp_swp = &compare_swap;
  shown.wr_atomic_fetch_add = &fetch_add;
  shown.wr_bind_mw = &bind_window;
  shown.wr_local_inv = &local_invalidate;
  shown.wr_rdma_read = &read;
  shown.wr_rdma_write = &write;
  shown.wr_rdma_write_imm = &write_immediate;
  shown.wr_send = &send;
  shown.wr_send_inv = &send_invalidate;
  shown.wr_set_inline_data = &iwarp::compat::set_inline;
  shown.wr_set_inline_data_list = &iwarp::compat::set_inline_list;
  shown.wr_set_sge = &set_sge;
  shown.wr_set_sge_list = &set_sge_list;
  shown.wr_start = &iwarp::compat::start;
  shown.wr_complete = &iwarp::compat::complete;
  shown.wr_abort = &iwarp::compat::abort;
}

void QpBatch::start() {
  mutex_.lock();
  clear();
}

verbs::SendWr& QpBatch::add(ibv_qp_ex& qp, verbs::Opcode opcode) {
  Request& request = requests_.emplace_back();
  request.wr.wr_id = qp.wr_id;
  request.wr.opcode = opcode;
  request.wr.flags = flags_of(qp.wr_flags);
  request.first_sge = sges_.size();
  return request.wr;
}

void QpBatch::set_sges(const ibv_sge* list, std::size_t count) {
  if (requests_.empty()) return fail(EINVAL);
  requests_.back().first_sge = sges_.size();
  requests_.back().sges = count;
  for (std::size_t i = 0; i < count; ++i) sges_.push_back(sge_of(list[i]));
}

// The data is copied now. Where it lies is known when no more is added.
void QpBatch::set_inline(const ibv_data_buf* list, std::size_t count) {
  if (requests_.empty()) return fail(EINVAL);
  Request& request = requests_.back();
  request.wr.flags = request.wr.flags | verbs::SendFlags::kInline;
  request.first_sge = sges_.size();
  request.sges = 1;
  request.inline_at = inline_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto* data = static_cast<const std::byte*>(list[i].addr);
    inline_.insert(inline_.end(), data, data + list[i].length);
  }
  sges_.push_back({nullptr, static_cast<std::uint32_t>(inline_.size() - request.inline_at), {}});
}

void QpBatch::bind(const verbs::BindWr& bind) { requests_.back().bind = bind; }

void QpBatch::fail(int error) { error_ = error; }

// All of it or nothing.
int QpBatch::complete(verbs::provider::Qp& qp) {
  const std::unique_lock lock(mutex_, std::adopt_lock);
  if (error_ != 0) return error_;
  std::vector<SendWr> batch;
  batch.reserve(requests_.size());
  for (Request& request : requests_) {
    const std::span<verbs::Sge> sges(sges_.data() + request.first_sge, request.sges);
    if (has(request.wr.flags, verbs::SendFlags::kInline) && !sges.empty()) {
      sges.front().address = inline_.data() + request.inline_at;
    }
    request.wr.sges = sges;
    if (request.wr.opcode == Opcode::kBindWindow) request.wr.bind = &request.bind;
    batch.push_back(request.wr);
  }
  const auto posted = qp.post_send(batch, verbs::Posting::kAllOrNone);
  return posted ? 0 : errno_of_post(posted.error());
}

void QpBatch::abort() {
  clear();
  mutex_.unlock();
}

void QpBatch::clear() {
  requests_.clear();
  sges_.clear();
  inline_.clear();
  error_ = 0;
}

}  // namespace iwarp::compat
