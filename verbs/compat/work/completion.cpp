#include "work/completion.hpp"

#include <arpa/inet.h>

namespace iwarp::compat {

using verbs::CompletionFlags;
using verbs::CompletionOpcode;
using verbs::Status;

ibv_wc_status status_of(Status status) {
  switch (status) {
    case Status::kSuccess: return IBV_WC_SUCCESS;
    case Status::kLocalLengthError: return IBV_WC_LOC_LEN_ERR;
    case Status::kLocalQpError: return IBV_WC_LOC_QP_OP_ERR;
    case Status::kLocalProtectionError: return IBV_WC_LOC_PROT_ERR;
    case Status::kWindowBindError: return IBV_WC_MW_BIND_ERR;
    case Status::kFlushed: return IBV_WC_WR_FLUSH_ERR;
    case Status::kRemoteInvalidRequest: return IBV_WC_REM_INV_REQ_ERR;
    case Status::kRemoteAccessError: return IBV_WC_REM_ACCESS_ERR;
    case Status::kRemoteOperationError: return IBV_WC_REM_OP_ERR;
    case Status::kUnreachable: return IBV_WC_RETRY_EXC_ERR;
    case Status::kFatal: break;
  }
  return IBV_WC_FATAL_ERR;
}

ibv_wc_opcode opcode_of(const verbs::Completion& completion) {
  switch (completion.opcode) {
    case CompletionOpcode::kSend: return IBV_WC_SEND;
    case CompletionOpcode::kImmediate:
    case CompletionOpcode::kWrite: return IBV_WC_RDMA_WRITE;
    case CompletionOpcode::kRead: return IBV_WC_RDMA_READ;
    case CompletionOpcode::kReceive:
      return has(completion.flags, CompletionFlags::kImmediate) ? IBV_WC_RECV_RDMA_WITH_IMM
                                                                : IBV_WC_RECV;
    case CompletionOpcode::kFetchAdd: return IBV_WC_FETCH_ADD;
    case CompletionOpcode::kCmpSwap: return IBV_WC_COMP_SWAP;
    case CompletionOpcode::kBindWindow: return IBV_WC_BIND_MW;
    case CompletionOpcode::kInvalidate:
    case CompletionOpcode::kRegister: break;
  }
  return IBV_WC_LOCAL_INV;
}

unsigned flags_of(const verbs::Completion& completion) {
  unsigned flags = 0;
  if (has(completion.flags, CompletionFlags::kImmediate)) flags |= IBV_WC_WITH_IMM;
  if (has(completion.flags, CompletionFlags::kInvalidated)) flags |= IBV_WC_WITH_INV;
  return flags;
}

std::uint64_t immediate_of(__be32 data) { return std::uint64_t{ntohl(data)} << 32U; }

__be32 immediate_of(std::uint64_t immediate) {
  return htonl(static_cast<std::uint32_t>(immediate >> 32U));
}

void fill(ibv_wc& to, const verbs::Completion& from) {
  to = {};
  to.wr_id = from.wr_id;
  to.status = status_of(from.status);
  to.qp_num = from.qp_number;
  if (from.status != Status::kSuccess) return;
  to.opcode = opcode_of(from);
  to.byte_len = from.byte_length;
  to.wc_flags = flags_of(from);
  if (has(from.flags, CompletionFlags::kImmediate)) {
    to.imm_data = immediate_of(from.immediate);
  } else {
    to.invalidated_rkey = from.invalidated.value();
  }
}

}  // namespace iwarp::compat
