/* Work requests and how they ended. */
#include <errno.h>
#include <string.h>

#include "session.h"

/* What an operation asks the device for. */
#define REQUEST_send IBV_WR_SEND, 0
#define REQUEST_send_se IBV_WR_SEND, IBV_SEND_SOLICITED
#define REQUEST_send_inv IBV_WR_SEND_WITH_INV, 0
#define REQUEST_send_se_inv IBV_WR_SEND_WITH_INV, IBV_SEND_SOLICITED
#define REQUEST_write IBV_WR_RDMA_WRITE, 0
#define REQUEST_read IBV_WR_RDMA_READ, 0
#define REQUEST_fetch_add IBV_WR_ATOMIC_FETCH_AND_ADD, 0
#define REQUEST_cmp_swap IBV_WR_ATOMIC_CMP_AND_SWP, 0
/* No device has the feature that these need. */
#define REQUEST_write_imm IBV_WR_RDMA_WRITE, 0
#define REQUEST_imm IBV_WR_SEND, 0
#define REQUEST_imm_se IBV_WR_SEND, 0

#define OPERATION(word, pairs, feature) {#word, pairs, FEATURE_##feature, REQUEST_##word},
static const struct operation {
  const char *name, *pairs;
  enum feature feature;
  enum ibv_wr_opcode opcode;
  unsigned flags;
} operations[] = {PROTOCOL_OPERATIONS(OPERATION)};
#undef OPERATION

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
  if (operation->feature == FEATURE_send_inv) {
    request->invalidate_rkey = (uint32_t)invalidate;
    request->wr.rdma.rkey = (uint32_t)invalidate; /* where libsiw looks for it */
  } else if (operation->feature == FEATURE_atomic) {
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

#define STATUS_NUMBER(word) STATUS_##word,
enum status { PROTOCOL_STATUSES(STATUS_NUMBER) };
static const char* const status_names[] = {PROTOCOL_STATUSES(PROTOCOL_NAME)};
#undef STATUS_NUMBER

static enum status status_of(enum ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS: return STATUS_success;
    case IBV_WC_LOC_LEN_ERR: return STATUS_local_length;
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR: return STATUS_local_protection;
    case IBV_WC_WR_FLUSH_ERR: return STATUS_flushed;
    case IBV_WC_MW_BIND_ERR: return STATUS_bind;
    case IBV_WC_REM_INV_REQ_ERR: return STATUS_remote_invalid_request;
    case IBV_WC_REM_ACCESS_ERR: return STATUS_remote_access;
    case IBV_WC_REM_OP_ERR: return STATUS_remote_operation;
    case IBV_WC_REM_ABORT_ERR:
    case IBV_WC_FATAL_ERR: return STATUS_aborted;
    default: return STATUS_other;
  }
}

bool do_completion(struct command* command, struct session* session, struct answer* answer) {
  uint64_t ms;
  struct report report;
  struct endpoint* endpoint = endpoint_of(command, session);
  if (endpoint == NULL || !read_wait(command, &ms)) return false;
  if (!await_report(endpoint, session->control, deadline_after(ms), &report)) {
    answer_text(answer, "completion", "none");
    return true;
  }
  const bool good = report.wc.status == IBV_WC_SUCCESS;
  const bool receive = strcmp(report.op, "receive") == 0;
  const bool carries = receive || strcmp(report.op, "read") == 0;
  const bool immediate = good && receive && report.wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM;
  answer_number(answer, "id", report.id);
  answer_text(answer, "status", status_names[status_of(report.wc.status)]);
  answer_text(answer, "op", immediate ? "receive_imm" : report.op);
  answer_number(answer, "length", good && carries ? report.wc.byte_len : 0);
  if (good && receive && (report.wc.wc_flags & IBV_WC_WITH_INV) != 0) {
    answer_stag(answer, "invalidated", report.wc.invalidated_rkey);
  }
  return true;
}
