/* Work requests and how they ended. */
#include <errno.h>
#include <string.h>

#include "session.h"

enum { LONGEST_WAIT = 3600000 };

/* An operation of `post`: the pairs it has beside endpoint, id and op, and the feature it needs. */
struct operation {
  const char *name, *pairs;
  unsigned feature;
  enum ibv_wr_opcode opcode;
  unsigned flags;
};
static const struct operation operations[] = {
    {"send", "region offset length", 0, IBV_WR_SEND, 0},
    {"send_se", "region offset length", 0, IBV_WR_SEND, IBV_SEND_SOLICITED},
    {"send_inv", "region offset length invalidate", SEND_INV, IBV_WR_SEND_WITH_INV, 0},
    {"send_se_inv", "region offset length invalidate", SEND_INV, IBV_WR_SEND_WITH_INV,
     IBV_SEND_SOLICITED},
    {"write", "region offset length stag address", 0, IBV_WR_RDMA_WRITE, 0},
    {"read", "region offset length stag address", READ, IBV_WR_RDMA_READ, 0},
    {"fetch_add", "region offset length stag address add", ATOMIC, IBV_WR_ATOMIC_FETCH_AND_ADD, 0},
    {"cmp_swap", "region offset length stag address compare swap", ATOMIC,
     IBV_WR_ATOMIC_CMP_AND_SWP, 0},
    {"write_imm", "region offset length stag address immediate", NEVER, IBV_WR_RDMA_WRITE, 0},
    {"imm", "immediate", NEVER, IBV_WR_SEND, 0},
    {"imm_se", "immediate", NEVER, IBV_WR_SEND, 0},
};

static const struct operation* operation_of(struct command* command) {
  const char* name = value_of(command, "op");
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    if (strcmp(operations[i].name, name) == 0) return &operations[i];
  }
  refuse(command, EINVAL, "there is no such operation");
  return NULL;
}

static bool check_operation(struct command* command, const struct session* session,
                            const struct operation* operation) {
  char pairs[128] = "endpoint id op ";
  strcat(pairs, operation->pairs);
  return check_pairs(command, pairs, "") && need(command, session, operation->feature);
}

static bool read_optional_hex(struct command* command, const char* name, uint64_t most,
                              uint64_t* value) {
  *value = 0;
  return !has_pair(command, name) || read_hex(command, name, most, value);
}

static bool fill_request(struct command* command, const struct operation* operation,
                         struct ibv_send_wr* request) {
  uint64_t stag, address, invalidate, add, compare, swap;
  if (!read_optional_hex(command, "stag", UINT32_MAX, &stag) ||
      !read_optional_hex(command, "address", UINT64_MAX, &address) ||
      !read_optional_hex(command, "invalidate", UINT32_MAX, &invalidate) ||
      !read_optional_hex(command, "add", UINT64_MAX, &add) ||
      !read_optional_hex(command, "compare", UINT64_MAX, &compare) ||
      !read_optional_hex(command, "swap", UINT64_MAX, &swap)) {
    return false;
  }
  request->opcode = operation->opcode;
  request->send_flags = operation->flags;
  if (operation->feature == SEND_INV) {
    request->invalidate_rkey = (uint32_t)invalidate;
    request->wr.rdma.rkey = (uint32_t)invalidate; /* where libsiw looks for it */
  } else if (operation->feature == ATOMIC) {
    request->wr.atomic.remote_addr = address;
    request->wr.atomic.rkey = (uint32_t)stag;
    request->wr.atomic.compare_add = operation->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? compare : add;
    request->wr.atomic.swap = swap;
  } else {
    request->wr.rdma.remote_addr = address;
    request->wr.rdma.rkey = (uint32_t)stag;
  }
  return true;
}

bool do_post(struct command* command, struct session* session, struct answer* answer) {
  (void)answer;
  uint64_t id;
  struct ibv_sge sge;
  struct ibv_send_wr request = {.sg_list = &sge};
  const struct operation* operation = operation_of(command);
  if (operation == NULL || !check_operation(command, session, operation)) return false;
  struct endpoint* endpoint = endpoint_of(command, session);
  if (endpoint == NULL || !read_number(command, "id", UINT64_MAX, &id) ||
      !read_sge(command, session, &sge) || !fill_request(command, operation, &request)) {
    return false;
  }
  /* A Read has one sink, even one of no octets. */
  request.num_sge = sge.length != 0 || operation->opcode == IBV_WR_RDMA_READ ? 1 : 0;
  await_connection(endpoint, session->control);
  return post_request(command, endpoint, id, operation->name, &request);
}

bool do_receive(struct command* command, struct session* session, struct answer* answer) {
  (void)answer;
  uint64_t id;
  struct ibv_sge sge;
  struct endpoint* endpoint = endpoint_of(command, session);
  return endpoint != NULL && read_number(command, "id", UINT64_MAX, &id) &&
         read_sge(command, session, &sge) && post_receive(command, endpoint, id, &sge);
}

static const char* name_of_status(enum ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS: return "success";
    case IBV_WC_LOC_LEN_ERR: return "local_length";
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR: return "local_protection";
    case IBV_WC_WR_FLUSH_ERR: return "flushed";
    case IBV_WC_MW_BIND_ERR: return "bind";
    case IBV_WC_REM_INV_REQ_ERR: return "remote_invalid_request";
    case IBV_WC_REM_ACCESS_ERR: return "remote_access";
    case IBV_WC_REM_OP_ERR: return "remote_operation";
    case IBV_WC_REM_ABORT_ERR:
    case IBV_WC_FATAL_ERR: return "aborted";
    default: return "other";
  }
}

bool do_completion(struct command* command, struct session* session, struct answer* answer) {
  uint64_t ms;
  struct report report;
  struct endpoint* endpoint = endpoint_of(command, session);
  if (endpoint == NULL || !read_number(command, "ms", LONGEST_WAIT, &ms)) return false;
  if (!await_report(endpoint, session->control, deadline_after(ms), &report)) {
    answer_text(answer, "completion", "none");
    return true;
  }
  const bool good = report.wc.status == IBV_WC_SUCCESS;
  const bool receive = strcmp(report.op, "receive") == 0;
  const bool carries = receive || strcmp(report.op, "read") == 0;
  const bool immediate = good && receive && report.wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM;
  answer_number(answer, "id", report.id);
  answer_text(answer, "status", name_of_status(report.wc.status));
  answer_text(answer, "op", immediate ? "receive_imm" : report.op);
  answer_number(answer, "length", good && carries ? report.wc.byte_len : 0);
  if (good && receive && (report.wc.wc_flags & IBV_WC_WITH_INV) != 0) {
    answer_stag(answer, "invalidated", report.wc.invalidated_rkey);
  }
  return true;
}
