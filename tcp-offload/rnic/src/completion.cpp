#include "completion.hpp"

namespace iwarp::rnic {
namespace {

using verbs::Completion;
using verbs::CompletionFlags;
using verbs::CompletionOpcode;
using verbs::Status;

Status status_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS: return Status::kSuccess;
    case IBV_WC_LOC_LEN_ERR: return Status::kLocalLengthError;
    case IBV_WC_LOC_QP_OP_ERR: return Status::kLocalQpError;
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR: return Status::kLocalProtectionError;
    case IBV_WC_WR_FLUSH_ERR: return Status::kFlushed;
    case IBV_WC_MW_BIND_ERR: return Status::kWindowBindError;
    case IBV_WC_REM_INV_REQ_ERR: return Status::kRemoteInvalidRequest;
    case IBV_WC_REM_ACCESS_ERR: return Status::kRemoteAccessError;
    case IBV_WC_REM_OP_ERR: return Status::kRemoteOperationError;
    default: return Status::kFatal;
  }
}

CompletionOpcode opcode_of(ibv_wc_opcode opcode) {
  switch (opcode) {
    case IBV_WC_RDMA_WRITE: return CompletionOpcode::kWrite;
    case IBV_WC_RDMA_READ: return CompletionOpcode::kRead;
    case IBV_WC_BIND_MW: return CompletionOpcode::kBindWindow;
    case IBV_WC_LOCAL_INV: return CompletionOpcode::kInvalidate;
    case IBV_WC_RECV:
    case IBV_WC_RECV_RDMA_WITH_IMM: return CompletionOpcode::kReceive;
    default: return CompletionOpcode::kSend;
  }
}

}  // namespace

std::optional<Completion> completion_of(const ibv_wc& wc) {
  WorkSlot& slot = *reinterpret_cast<WorkSlot*>(wc.wr_id);
  Completion completion;
  completion.wr_id = slot.wr_id;
  const Told at_least = wc.status == IBV_WC_SUCCESS ? Told::kAlways : Told::kWhenFailed;
  const bool told = slot.told >= at_least;
  if (!slot.owner->complete(slot, wc) || !told) return std::nullopt;
  completion.qp_number = wc.qp_num;
  completion.status = status_of(wc.status);
  if (wc.status != IBV_WC_SUCCESS) return completion;
  completion.opcode = opcode_of(wc.opcode);
  completion.byte_length = wc.byte_len;
  if ((wc.wc_flags & IBV_WC_WITH_INV) != 0) {
    completion.invalidated = Stag{wc.invalidated_rkey};
    completion.flags = CompletionFlags::kInvalidated;
  }
  return completion;
}

Completion flushed(std::uint64_t wr_id, std::uint32_t qp_number) {
  Completion completion;
  completion.wr_id = wr_id;
  completion.qp_number = qp_number;
  completion.status = Status::kFlushed;
  return completion;
}

}  // namespace iwarp::rnic
