/* Everything that one tester has made. */
#ifndef VERBS_AGENT_SESSION_H
#define VERBS_AGENT_SESSION_H

#include "endpoint.h"

/* FEATURE_none is what a command needs that needs no feature: each device has it. */
#define FEATURE_NUMBER(word) FEATURE_##word,
enum feature { FEATURE_none, PROTOCOL_FEATURES(FEATURE_NUMBER) FEATURE_COUNT };
#undef FEATURE_NUMBER

struct region {
  struct region* next;
  uint64_t number;
  unsigned char* memory;
  size_t size;
  struct ibv_mr* mr;
};

struct window {
  struct window* next;
  uint64_t endpoint, region;
  struct ibv_mw* mw;
};

struct settings {
  uint16_t iwarp_port;    /* 0: any */
  bool remote_invalidate; /* the device lets peers invalidate any region */
};

struct session {
  struct control* control;
  struct settings settings;
  struct sockaddr_storage address; /* of the RDMA device; its port is 0 */
  struct rdma_event_channel* channel;
  struct rdma_cm_id* device; /* bound to the address */
  struct ibv_pd* pd;
  struct ibv_device_attr limits;
  uint32_t max_message;
  bool features[FEATURE_COUNT];
  uint64_t next_number;
  size_t octets, most_octets; /* of all regions */
  struct region* regions;
  struct window* windows;
  struct endpoint* endpoints;
  struct rdma_event_channel* listen_channel;
  struct rdma_cm_id* listener;
  uint64_t ird, ord; /* as the last `listen` said */
};

/* 0, or an errno: ENODEV if no RDMA device has the address. */
int open_session(struct session* session, const struct sockaddr* address);
void close_session(struct session* session);
/* The answer to a line, which is cut up. */
void answer_line(struct session* session, char* line, size_t size, struct answer* answer);

bool need(struct command* command, const struct session* session, enum feature feature);
struct endpoint* endpoint_of(struct command* command, const struct session* session);
struct region* region_of(struct command* command, const struct session* session);
/* What `region`, `offset` and `length` name. */
bool read_sge(struct command* command, const struct session* session, struct ibv_sge* sge);

void drop_requests(struct session* session);
void drop_listener(struct session* session);
void drop_endpoints(struct session* session);
/* Windows of this endpoint or region, or all if both are 0. */
void drop_windows(struct session* session, uint64_t endpoint, uint64_t region);
void drop_regions(struct session* session);

/* A function do_WORD for each command: do_hello and do_reset in session.c, those of connections in
 * connections.c, of regions and windows in memory.c, of requests in transfers.c. */
typedef bool execute(struct command* command, struct session* session, struct answer* answer);
#define DECLARED(word, ...) execute do_##word;
PROTOCOL_COMMANDS(DECLARED)
#undef DECLARED

#endif
