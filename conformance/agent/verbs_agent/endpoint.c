#include "endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { START_PATIENCE = 2000, BIND_PATIENCE = 5000 }; /* milliseconds */
static const uint64_t bind_wr_id = UINT64_MAX;

static int least(int a, int b) { return a < b ? a : b; }

struct rdma_event_channel* open_channel(void) {
  struct rdma_event_channel* channel = rdma_create_event_channel();
  if (channel != NULL) {
    fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
  }
  return channel;
}

static int make_queues(struct endpoint* endpoint, struct ibv_pd* pd,
                       const struct ibv_device_attr* limits) {
  endpoint->completions = ibv_create_comp_channel(pd->context);
  if (endpoint->completions == NULL) return errno;
  const int descriptor = endpoint->completions->fd;
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  endpoint->cq =
      ibv_create_cq(pd->context, least(CQ_DEPTH, limits->max_cqe), NULL, endpoint->completions, 0);
  if (endpoint->cq == NULL) return errno;
  const unsigned depth = (unsigned)least(QUEUE_DEPTH, limits->max_qp_wr);
  struct ibv_qp_init_attr attributes = {
      .send_cq = endpoint->cq,
      .recv_cq = endpoint->cq,
      .qp_type = IBV_QPT_RC,
      .cap = {.max_send_wr = depth, .max_recv_wr = depth, .max_send_sge = 1, .max_recv_sge = 1}};
  return rdma_create_qp(endpoint->cm, pd, &attributes) == 0 ? 0 : errno;
}

int make_endpoint(struct rdma_event_channel* channel, struct rdma_cm_id* cm, struct ibv_pd* pd,
                  const struct ibv_device_attr* limits, struct endpoint** made) {
  *made = NULL;
  struct endpoint* endpoint = calloc(1, sizeof *endpoint);
  if (endpoint == NULL) {
    rdma_destroy_id(cm);
    rdma_destroy_event_channel(channel);
    return ENOMEM;
  }
  endpoint->channel = channel;
  endpoint->cm = cm;
  const int error = make_queues(endpoint, pd, limits);
  if (error != 0) {
    free_endpoint(endpoint);
    return error;
  }
  *made = endpoint;
  return 0;
}

void free_endpoint(struct endpoint* endpoint) {
  if (endpoint->cm->qp != NULL) rdma_destroy_qp(endpoint->cm);
  rdma_destroy_id(endpoint->cm);
  if (endpoint->cq != NULL) ibv_destroy_cq(endpoint->cq);
  if (endpoint->completions != NULL) ibv_destroy_comp_channel(endpoint->completions);
  rdma_destroy_event_channel(endpoint->channel);
  free(endpoint);
}

/* --- what happens to the connection --- */

static void add_event(struct endpoint* endpoint, enum happening what,
                      const struct rdma_conn_param* said) {
  endpoint->happened = true;
  if (endpoint->event_count == MOST_EVENTS) return;
  struct event* event = &endpoint->events[endpoint->event_count++];
  *event = (struct event){.what = what};
  if (said == NULL) return;
  /* Most drivers hand their IRD over as initiator_depth, in spite of rdma_get_cm_event(3). */
  event->ird = said->initiator_depth;
  event->ord = said->responder_resources;
  if (said->private_data != NULL) {
    event->size = said->private_data_len;
    memcpy(event->private_data, said->private_data, event->size);
  }
}

static void note_event(struct endpoint* endpoint, const struct rdma_cm_event* event) {
  switch (event->event) {
    case RDMA_CM_EVENT_ESTABLISHED:
      add_event(endpoint, EVENT_established, &event->param.conn);
      break;
    case RDMA_CM_EVENT_REJECTED: add_event(endpoint, EVENT_rejected, &event->param.conn); break;
    case RDMA_CM_EVENT_DISCONNECTED: add_event(endpoint, EVENT_disconnected, NULL); break;
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_DEVICE_REMOVAL: add_event(endpoint, EVENT_failed, NULL); break;
    default: break;
  }
}

void add_failure(struct endpoint* endpoint) { add_event(endpoint, EVENT_failed, NULL); }

void look_for_events(struct endpoint* endpoint) {
  struct rdma_cm_event* event;
  while (rdma_get_cm_event(endpoint->channel, &event) == 0) {
    note_event(endpoint, event);
    rdma_ack_cm_event(event);
  }
}

bool take_event(struct endpoint* endpoint, struct event* event) {
  look_for_events(endpoint);
  if (endpoint->event_count == 0) return false;
  *event = endpoint->events[0];
  memmove(endpoint->events, endpoint->events + 1, --endpoint->event_count * sizeof *event);
  return true;
}

/* A tester cannot know when this side has seen the last frame of the start-up. */
void await_connection(struct endpoint* endpoint, struct control* control) {
  if (!endpoint->begun) return;
  const int64_t deadline = deadline_after(START_PATIENCE);
  do {
    look_for_events(endpoint);
  } while (!endpoint->happened && wait_slice(control, endpoint->channel->fd, deadline));
}

/* --- work requests --- */

/* A request that has ended holds its place until the tester has fetched its completion, so that the
 * completion queue and what is kept have room for all. */
static struct posted* remember(struct command* command, struct endpoint* endpoint, uint64_t id,
                               const char* op) {
  const size_t room = (size_t)endpoint->cq->cqe < CQ_DEPTH ? (size_t)endpoint->cq->cqe : CQ_DEPTH;
  for (size_t i = 0; i + endpoint->kept_count + 1 < room; ++i) {
    struct posted* posted = &endpoint->posted[i];
    if (posted->used) continue;
    *posted = (struct posted){.used = true, .id = id, .op = op};
    return posted;
  }
  refuse(command, ENOMEM, "too many completions have not been asked for");
  return NULL;
}

/* Providers return an errno, its negative, or -1 with errno set. */
static bool check_post(struct command* command, int result) {
  if (result == 0) return true;
  int code = result < 0 ? -result : result;
  if (result == -1 && errno != 0) code = errno;
  return refuse(command, code, "the device does not take the request: %s", strerror(code));
}

static bool check_connected(struct command* command, const struct endpoint* endpoint) {
  return endpoint->begun || refuse(command, ENOTCONN, "the queue pair is not connected");
}

bool post_receive(struct command* command, struct endpoint* endpoint, uint64_t id,
                  struct ibv_sge* sge) {
  struct posted* posted = remember(command, endpoint, id, "receive");
  if (posted == NULL) return false;
  struct ibv_recv_wr *bad, request = {.wr_id = (uint64_t)(posted - endpoint->posted),
                                      .sg_list = sge,
                                      .num_sge = 1}; /* siw takes none without */
  errno = 0;
  posted->used = check_post(command, ibv_post_recv(endpoint->cm->qp, &request, &bad));
  return posted->used;
}

bool post_request(struct command* command, struct endpoint* endpoint, uint64_t id, const char* op,
                  struct ibv_send_wr* request) {
  if (!check_connected(command, endpoint)) return false;
  struct posted* posted = remember(command, endpoint, id, op);
  if (posted == NULL) return false;
  request->wr_id = (uint64_t)(posted - endpoint->posted);
  request->send_flags |= IBV_SEND_SIGNALED;
  struct ibv_send_wr* bad;
  errno = 0;
  posted->used = check_post(command, ibv_post_send(endpoint->cm->qp, request, &bad));
  return posted->used;
}

static struct report report_of(struct endpoint* endpoint, const struct ibv_wc* wc) {
  struct report report = {.id = wc->wr_id, .op = "other", .wc = *wc};
  if (wc->wr_id < CQ_DEPTH) {
    struct posted* posted = &endpoint->posted[wc->wr_id];
    report.id = posted->id;
    report.op = posted->op != NULL ? posted->op : "other";
    posted->used = false;
  }
  return report;
}

/* Completions of bindings are noted on the way. */
static bool poll_report(struct endpoint* endpoint, struct report* report) {
  struct ibv_wc wc;
  while (ibv_poll_cq(endpoint->cq, 1, &wc) == 1) {
    if (wc.wr_id != bind_wr_id) {
      *report = report_of(endpoint, &wc);
      return true;
    }
    endpoint->bound = true;
    endpoint->bind_status = wc.status;
  }
  return false;
}

/* Like poll_report; if there is none, the completion channel tells of the next one. */
static bool poll_and_arm(struct endpoint* endpoint, struct report* report) {
  struct ibv_cq* cq;
  void* context;
  while (ibv_get_cq_event(endpoint->completions, &cq, &context) == 0) ibv_ack_cq_events(cq, 1);
  if (poll_report(endpoint, report)) return true;
  ibv_req_notify_cq(endpoint->cq, 0);
  return poll_report(endpoint, report);
}

bool await_report(struct endpoint* endpoint, struct control* control, int64_t deadline,
                  struct report* report) {
  if (endpoint->kept_count != 0) {
    *report = endpoint->kept[0];
    memmove(endpoint->kept, endpoint->kept + 1, --endpoint->kept_count * sizeof *report);
    return true;
  }
  do {
    if (poll_and_arm(endpoint, report)) return true;
  } while (wait_slice(control, endpoint->completions->fd, deadline));
  return false;
}

bool bind_window(struct command* command, struct endpoint* endpoint, struct ibv_send_wr* request,
                 struct control* control) {
  if (!check_connected(command, endpoint)) return false;
  request->wr_id = bind_wr_id;
  request->send_flags |= IBV_SEND_SIGNALED;
  endpoint->bound = false;
  struct ibv_send_wr* bad;
  errno = 0;
  if (!check_post(command, ibv_post_send(endpoint->cm->qp, request, &bad))) return false;
  const int64_t deadline = deadline_after(BIND_PATIENCE);
  struct report report;
  do {
    while (endpoint->kept_count < CQ_DEPTH && poll_and_arm(endpoint, &report)) {
      endpoint->kept[endpoint->kept_count++] = report;
    }
  } while (!endpoint->bound && wait_slice(control, endpoint->completions->fd, deadline));
  if (!endpoint->bound) return refuse(command, ETIMEDOUT, "the window was not bound in time");
  if (endpoint->bind_status == IBV_WC_SUCCESS) return true;
  return refuse(command, EACCES, "the window was not bound: %s",
                ibv_wc_status_str(endpoint->bind_status));
}
