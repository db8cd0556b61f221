// The extended interface of completion queues: ibv_start_poll() and what reads its entries.
#include "core/cq.hpp"
#include "core/errors.hpp"
#include "core/memory.hpp"
#include "iwarp/process/no_cancel.hpp"
#include "shared/process_end.hpp"
#include "work/completion.hpp"

namespace iwarp::compat {
namespace {

void end_poll(ibv_cq_ex* shown) {
  Cq& cq = cq_of(shown);
  if (!cq.single_threaded) cq.extended_poll.unlock();
}

bool take_next(Cq& cq) {
  if (cq.core->poll({&cq.current, 1}) == 0 || caller_is_left_behind()) return false;
  cq.shown.extended.wr_id = cq.current.wr_id;
  cq.shown.extended.status = status_of(cq.current.status);
  return true;
}

int start_poll(ibv_cq_ex* shown, ibv_poll_cq_attr* attributes) {
  if (attributes->comp_mask != 0) return EINVAL;
  if (refused(shown->context)) return ENODEV;
  Cq& cq = cq_of(shown);
  const process::NoCancel whole;  // a thread that is cancelled would leave the queue locked
  if (!cq.single_threaded) cq.extended_poll.lock();
  if (take_next(cq)) return 0;
  end_poll(shown);
  return ENOENT;
}

int next_poll(ibv_cq_ex* shown) { return take_next(cq_of(shown)) ? 0 : ENOENT; }

ibv_wc_opcode read_opcode(ibv_cq_ex* cq) { return opcode_of(cq_of(cq).current); }
std::uint32_t read_byte_len(ibv_cq_ex* cq) { return cq_of(cq).current.byte_length; }
std::uint32_t read_qp_num(ibv_cq_ex* cq) { return cq_of(cq).current.qp_number; }
unsigned read_wc_flags(ibv_cq_ex* cq) { return flags_of(cq_of(cq).current); }

// The same word of a completion holds the key that the peer invalidated.
__be32 read_imm_data(ibv_cq_ex* shown) {
  const verbs::Completion& current = cq_of(shown).current;
  if (has(current.flags, verbs::CompletionFlags::kImmediate)) {
    return immediate_of(current.immediate);
  }
  return current.invalidated.value();
}

// What iWARP has not.
std::uint32_t none_32(ibv_cq_ex*) { return 0; }
std::uint8_t none_8(ibv_cq_ex*) { return 0; }

}  // namespace

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes) {
  if (refused(context)) return fail_null(ENODEV);
  constexpr std::uint32_t kKnown = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
  constexpr std::uint32_t kKnownFlags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
  const bool flags = (attributes->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0;
  if ((attributes->comp_mask & ~kKnown) != 0 ||
      (flags && (attributes->flags & ~kKnownFlags) != 0) ||
      (attributes->wc_flags & ~std::uint64_t{IBV_WC_STANDARD_FLAGS}) != 0) {
    return fail_null(EOPNOTSUPP);
  }
  const bool in_domain = (attributes->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0;
  ibv_pd* const domain = in_domain ? attributes->parent_domain : nullptr;
  if (in_domain && (domain == nullptr || !pd_of(domain).parent)) return fail_null(EINVAL);
  return guarded(
      [&]() -> ibv_cq_ex* {
        Cq* cq = make_cq(context, attributes->cqe, attributes->cq_context, attributes->channel,
                         static_cast<int>(attributes->comp_vector));
        if (cq == nullptr) return nullptr;
        if (domain != nullptr) cq->parent_domain = Use(pd_of(domain).uses);
        cq->single_threaded =
            flags && (attributes->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0;
        ibv_cq_ex& shown = cq->shown.extended;
        shown.start_poll = &start_poll;
        shown.next_poll = &next_poll;
        shown.end_poll = &end_poll;
        shown.read_opcode = &read_opcode;
        shown.read_vendor_err = &none_32;
        shown.read_byte_len = &read_byte_len;
        shown.read_imm_data = &read_imm_data;
        shown.read_qp_num = &read_qp_num;
        shown.read_src_qp = &none_32;
        shown.read_wc_flags = &read_wc_flags;
        shown.read_slid = &none_32;
        shown.read_sl = &none_8;
        shown.read_dlid_path_bits = &none_8;
        return &shown;
      },
      [](int error) -> ibv_cq_ex* { return fail_null(error); });
}

}  // namespace iwarp::compat
