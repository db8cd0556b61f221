/* A queue pair with a completion queue and an event channel of its own. */
#ifndef VERBS_AGENT_ENDPOINT_H
#define VERBS_AGENT_ENDPOINT_H

#include <rdma/rdma_cma.h>

#include "command.h"
#include "control.h"

enum {
  QUEUE_DEPTH = 128, /* of each queue, unless the device has less */
  CQ_DEPTH = 512,
  MOST_EVENTS = 8, /* of one connection */
  MOST_PRIVATE_DATA = 255,
};

#define EVENT_NUMBER(word) EVENT_##word,
enum happening { PROTOCOL_EVENTS(EVENT_NUMBER) };
#undef EVENT_NUMBER

struct event {
  enum happening what;
  unsigned ird, ord;
  size_t size;
  unsigned char private_data[MOST_PRIVATE_DATA];
};

/* A work request that was posted; its place in the table is the wr_id that the device sees, as the
 * tester may give two requests the same id. */
struct posted {
  bool used;
  uint64_t id;
  const char* op;
};

struct report {
  uint64_t id;
  const char* op;
  struct ibv_wc wc;
};

struct endpoint {
  struct endpoint* next;
  uint64_t number;
  struct rdma_event_channel* channel;
  struct rdma_cm_id* cm;
  struct ibv_comp_channel* completions;
  struct ibv_cq* cq;
  bool may_answer, may_connect, begun, happened;
  struct event events[MOST_EVENTS];
  size_t event_count;
  struct posted posted[CQ_DEPTH];
  /* Completions that came while a window was being bound. */
  struct report kept[CQ_DEPTH];
  size_t kept_count;
  bool bound; /* the binding has ended, with `bind_status` */
  enum ibv_wc_status bind_status;
};

/* An event channel whose descriptor does not block; NULL if there is none, see errno. */
struct rdma_event_channel* open_channel(void);

/* Takes `channel` and `cm`, whose events come there, even if it fails: then 0 is in *made and an
 * errno returned. */
int make_endpoint(struct rdma_event_channel* channel, struct rdma_cm_id* cm, struct ibv_pd* pd,
                  const struct ibv_device_attr* limits, struct endpoint** made);
/* Destroys everything; what is connected is cut off. */
void free_endpoint(struct endpoint* endpoint);

/* Looks whether something has happened, without waiting. */
void look_for_events(struct endpoint* endpoint);
/* The connection could not be begun. */
void add_failure(struct endpoint* endpoint);
bool take_event(struct endpoint* endpoint, struct event* event);
/* Waits until a connection that has begun is established, or has failed. */
void await_connection(struct endpoint* endpoint, struct control* control);

/* Both refuse `command` if the device does not take the request. */
bool post_receive(struct command* command, struct endpoint* endpoint, uint64_t id,
                  struct ibv_sge* sge);
bool post_request(struct command* command, struct endpoint* endpoint, uint64_t id, const char* op,
                  struct ibv_send_wr* request);
bool bind_window(struct command* command, struct endpoint* endpoint, struct ibv_send_wr* request,
                 struct control* control);

/* A completion, if there is one before the deadline. */
bool await_report(struct endpoint* endpoint, struct control* control, int64_t deadline,
                  struct report* report);

#endif
