/* From a listener, or an address, to a connection and its end. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session.h"

enum { BACKLOG = 64, PORT_PATIENCE = 2000, RESOLVE_PATIENCE = 2000 };
enum { LONGEST_PRIVATE_DATA = 4096 }; /* that is read; more is malformed */

/* What a connection shall start with. */
struct start {
  uint64_t ird, ord;
  size_t size;
  unsigned char private_data[MOST_PRIVATE_DATA];
};

/* MPA could say more than an rdma_conn_param. */
static bool read_depth(struct command* command, const char* name, uint64_t* depth) {
  if (!read_optional_number(command, name, UINT16_MAX, depth)) return false;
  return *depth <= UINT8_MAX ||
         refuse(command, EOPNOTSUPP, "librdmacm takes no %s beyond %d", name, UINT8_MAX);
}

static bool read_depths(struct command* command, uint64_t* ird, uint64_t* ord) {
  return read_depth(command, "ird", ird) && read_depth(command, "ord", ord);
}

static bool read_start(struct command* command, struct start* start) {
  unsigned char data[LONGEST_PRIVATE_DATA];
  start->size = 0;
  if (has_pair(command, "private") &&
      !read_octets(command, "private", data, sizeof data, &start->size)) {
    return false;
  }
  if (start->size > MOST_PRIVATE_DATA) {
    return refuse(command, EOPNOTSUPP, "librdmacm takes no private data beyond %d octets",
                  MOST_PRIVATE_DATA);
  }
  memcpy(start->private_data, data, start->size);
  return read_depths(command, &start->ird, &start->ord);
}

static struct rdma_conn_param parameters_of(const struct start* start) {
  return (struct rdma_conn_param){.private_data = start->private_data,
                                  .private_data_len = (uint8_t)start->size,
                                  .responder_resources = (uint8_t)start->ird,
                                  .initiator_depth = (uint8_t)start->ord,
                                  .retry_count = 7,
                                  .rnr_retry_count = 7};
}

/* These libraries leave the start-up of MPA to the device. */
static bool refuse_mpa(struct command* command) {
  static const char* const names[] = {"revision", "crc", "markers", "p2p"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (has_pair(command, names[i])) {
      return refuse(command, EOPNOTSUPP, "the device chooses %s itself", names[i]);
    }
  }
  return true;
}

static void set_port(struct sockaddr_storage* address, uint16_t port) {
  if (address->ss_family == AF_INET6) {
    ((struct sockaddr_in6*)address)->sin6_port = htons(port);
  } else {
    ((struct sockaddr_in*)address)->sin_port = htons(port);
  }
}

/* --- listening --- */

void drop_listener(struct session* session) {
  if (session->listener != NULL) rdma_destroy_id(session->listener);
  if (session->listen_channel != NULL) rdma_destroy_event_channel(session->listen_channel);
  session->listener = NULL;
  session->listen_channel = NULL;
}

static int start_listener(struct session* session) {
  session->listen_channel = open_channel();
  if (session->listen_channel == NULL) return errno;
  if (rdma_create_id(session->listen_channel, &session->listener, NULL, RDMA_PS_TCP) != 0) {
    return errno;
  }
  struct sockaddr_storage address = session->address;
  set_port(&address, session->settings.iwarp_port);
  if (rdma_bind_addr(session->listener, (struct sockaddr*)&address) != 0) return errno;
  return rdma_listen(session->listener, BACKLOG) == 0 ? 0 : errno;
}

bool do_listen(struct command* command, struct session* session, struct answer* answer) {
  uint64_t ird = 16, ord = 16;
  if (!refuse_mpa(command) || !read_depths(command, &ird, &ord)) return false;
  /* A port that was listened on a moment ago may be held a little longer; one that librdmacm has
   * chosen may belong to a socket. */
  const int64_t deadline = deadline_after(PORT_PATIENCE);
  int error;
  do {
    drop_listener(session);
    error = start_listener(session);
  } while (error == EADDRINUSE && wait_slice(session->control, -1, deadline));
  if (error != 0) {
    drop_listener(session);
    return refuse(command, error, "cannot listen for iWARP: %s", strerror(error));
  }
  session->ird = ird;
  session->ord = ord;
  answer_number(answer, "port", ntohs(rdma_get_src_port(session->listener)));
  return true;
}

/* The next connection request without waiting; its event is acknowledged, its data copied. */
static struct rdma_cm_id* take_request(struct session* session, struct event* said) {
  struct rdma_cm_event* event;
  while (rdma_get_cm_event(session->listen_channel, &event) == 0) {
    struct rdma_cm_id* id = NULL;
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      const struct rdma_conn_param* param = &event->param.conn;
      id = event->id;
      /* They are told from this side's view: what it may initiate is the peer's IRD. */
      said->ird = param->initiator_depth;
      said->ord = param->responder_resources;
      said->size = param->private_data != NULL ? param->private_data_len : 0;
      if (said->size != 0) memcpy(said->private_data, param->private_data, said->size);
    }
    rdma_ack_cm_event(event);
    if (id != NULL) return id;
  }
  return NULL;
}

/* Destroyed unanswered they are rejected. */
void drop_requests(struct session* session) {
  if (session->listener == NULL) return;
  struct event said;
  for (struct rdma_cm_id* id; (id = take_request(session, &said)) != NULL;) {
    rdma_reject(id, NULL, 0);
    rdma_destroy_id(id);
  }
}

static bool add_endpoint(struct command* command, struct session* session,
                         struct rdma_event_channel* channel, struct rdma_cm_id* id,
                         struct endpoint** endpoint) {
  const int error = make_endpoint(channel, id, session->pd, &session->limits, endpoint);
  if (error != 0) return refuse(command, error, "no queue pair: %s", strerror(error));
  (*endpoint)->number = session->next_number++;
  (*endpoint)->next = session->endpoints;
  session->endpoints = *endpoint;
  return true;
}

/* Gives a request an event channel and a queue pair of its own. */
static bool admit(struct command* command, struct session* session, struct rdma_cm_id* id,
                  struct endpoint** endpoint) {
  struct rdma_event_channel* channel = open_channel();
  if (channel == NULL || rdma_migrate_id(id, channel) != 0) {
    const int error = errno;
    rdma_destroy_id(id);
    if (channel != NULL) rdma_destroy_event_channel(channel);
    return refuse(command, error, "no event channel: %s", strerror(error));
  }
  return add_endpoint(command, session, channel, id, endpoint);
}

bool do_await(struct command* command, struct session* session, struct answer* answer) {
  uint64_t ms;
  if (!read_wait(command, &ms)) return false;
  if (session->listener == NULL) return refuse(command, EINVAL, "nothing listens");
  const int64_t deadline = deadline_after(ms);
  struct event said;
  struct rdma_cm_id* id;
  do {
    id = take_request(session, &said);
  } while (id == NULL && wait_slice(session->control, session->listen_channel->fd, deadline));
  if (id == NULL) return refuse(command, ETIMEDOUT, "no connection request came");
  struct endpoint* endpoint;
  if (!admit(command, session, id, &endpoint)) return false;
  endpoint->may_answer = true;
  answer_number(answer, "endpoint", endpoint->number);
  answer_octets(answer, "private", said.private_data, said.size);
  answer_number(answer, "ird", said.ird);
  answer_number(answer, "ord", said.ord);
  return true;
}

static struct endpoint* to_be_answered(struct command* command, const struct session* session) {
  struct endpoint* endpoint = endpoint_of(command, session);
  if (endpoint == NULL || endpoint->may_answer) return endpoint;
  refuse(command, EINVAL, "the endpoint has no connection request");
  return NULL;
}

bool do_accept(struct command* command, struct session* session, struct answer* answer) {
  (void)answer;
  struct endpoint* endpoint = to_be_answered(command, session);
  struct start start = {.ird = session->ird, .ord = session->ord};
  if (endpoint == NULL || !read_start(command, &start)) return false;
  struct rdma_conn_param parameters = parameters_of(&start);
  if (rdma_accept(endpoint->cm, &parameters) != 0) {
    return refuse(command, errno, "the device does not accept: %s", strerror(errno));
  }
  endpoint->may_answer = false;
  endpoint->begun = true;
  return true;
}

bool do_reject(struct command* command, struct session* session, struct answer* answer) {
  (void)answer;
  struct endpoint* endpoint = to_be_answered(command, session);
  struct start start = {.ird = 0};
  if (endpoint == NULL || !read_start(command, &start)) return false;
  if (rdma_reject(endpoint->cm, start.private_data, (uint8_t)start.size) != 0) {
    return refuse(command, errno, "the device does not reject: %s", strerror(errno));
  }
  endpoint->may_answer = false;
  return true;
}

/* --- connecting --- */

/* Waits for one step of rdma_resolve_…; an errno. */
static int await_step(struct session* session, struct rdma_event_channel* channel,
                      enum rdma_cm_event_type step) {
  const int64_t deadline = deadline_after(2 * RESOLVE_PATIENCE);
  do {
    struct rdma_cm_event* event;
    if (rdma_get_cm_event(channel, &event) != 0) continue;
    const bool done = event->event == step;
    const int status = event->status < 0 ? -event->status : event->status;
    rdma_ack_cm_event(event);
    if (done) return 0;
    return status != 0 ? status : EHOSTUNREACH;
  } while (wait_slice(session->control, channel->fd, deadline));
  return ETIMEDOUT;
}

static int resolve(struct session* session, struct rdma_event_channel* channel,
                   struct rdma_cm_id* id, struct sockaddr* to) {
  struct sockaddr* from = (struct sockaddr*)&session->address;
  if (from->sa_family != to->sa_family) return EINVAL;
  if (rdma_resolve_addr(id, from, to, RESOLVE_PATIENCE) != 0) return errno;
  int error = await_step(session, channel, RDMA_CM_EVENT_ADDR_RESOLVED);
  if (error != 0) return error;
  if (rdma_resolve_route(id, RESOLVE_PATIENCE) != 0) return errno;
  error = await_step(session, channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
  if (error != 0) return error;
  return id->verbs == session->pd->context ? 0 : ENODEV;
}

static bool read_peer(struct command* command, struct sockaddr_storage* peer) {
  uint64_t port;
  if (!read_number(command, "port", UINT16_MAX, &port)) return false;
  const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
  struct addrinfo* found;
  if (getaddrinfo(value_of(command, "address"), NULL, &hints, &found) != 0) {
    return refuse(command, EINVAL, "the address is not numeric");
  }
  memcpy(peer, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  set_port(peer, (uint16_t)port);
  return true;
}

bool do_dial(struct command* command, struct session* session, struct answer* answer) {
  struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
  if (!refuse_mpa(command) || !read_peer(command, &peer)) return false;
  struct rdma_event_channel* channel = open_channel();
  struct rdma_cm_id* id = NULL;
  int error = channel == NULL ? errno : 0;
  if (error == 0 && rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0) error = errno;
  if (error == 0) error = resolve(session, channel, id, (struct sockaddr*)&peer);
  if (error != 0) {
    if (id != NULL) rdma_destroy_id(id);
    if (channel != NULL) rdma_destroy_event_channel(channel);
    return refuse(command, error, "the address is not reached: %s", strerror(error));
  }
  struct endpoint* endpoint;
  if (!add_endpoint(command, session, channel, id, &endpoint)) return false;
  endpoint->may_connect = true;
  answer_number(answer, "endpoint", endpoint->number);
  return true;
}

/* What some devices say at once, as they wait for TCP; the others say it by an event. */
static bool is_of_the_network(int error) {
  return error == ECONNREFUSED || error == ECONNRESET || error == ETIMEDOUT ||
         error == EHOSTUNREACH || error == ENETUNREACH;
}

bool do_connect(struct command* command, struct session* session, struct answer* answer) {
  (void)answer;
  struct endpoint* endpoint = endpoint_of(command, session);
  struct start start = {.ird = 16, .ord = 16};
  if (endpoint == NULL || !read_start(command, &start)) return false;
  if (!endpoint->may_connect) {
    return refuse(command, EINVAL, "the endpoint has no address to connect to");
  }
  struct rdma_conn_param parameters = parameters_of(&start);
  if (rdma_connect(endpoint->cm, &parameters) != 0) {
    if (!is_of_the_network(errno)) {
      return refuse(command, errno, "the device does not connect: %s", strerror(errno));
    }
    add_failure(endpoint);
  }
  endpoint->may_connect = false;
  endpoint->begun = true;
  return true;
}

/* --- events and ends --- */

bool do_event(struct command* command, struct session* session, struct answer* answer) {
  static const char* const names[] = {PROTOCOL_EVENTS(PROTOCOL_NAME)};
  uint64_t ms;
  struct endpoint* endpoint = endpoint_of(command, session);
  if (endpoint == NULL || !read_wait(command, &ms)) return false;
  const int64_t deadline = deadline_after(ms);
  struct event event;
  bool happened;
  do {
    happened = take_event(endpoint, &event);
  } while (!happened && wait_slice(session->control, endpoint->channel->fd, deadline));
  const enum happening what = happened ? event.what : EVENT_none;
  answer_text(answer, "event", names[what]);
  if (what != EVENT_established && what != EVENT_rejected) return true;
  answer_octets(answer, "private", event.private_data, event.size);
  answer_number(answer, "ird", event.ird);
  answer_number(answer, "ord", event.ord);
  return true;
}

bool do_disconnect(struct command* command, struct session* session, struct answer* answer) {
  (void)answer;
  struct endpoint* endpoint = endpoint_of(command, session);
  if (endpoint == NULL) return false;
  if (rdma_disconnect(endpoint->cm) == 0) return true;
  return refuse(command, errno, "the device does not disconnect: %s", strerror(errno));
}

static void drop_endpoint(struct session* session, struct endpoint* endpoint) {
  struct endpoint** link = &session->endpoints;
  while (*link != endpoint) link = &(*link)->next;
  *link = endpoint->next;
  drop_windows(session, endpoint->number, 0);
  free_endpoint(endpoint);
}

void drop_endpoints(struct session* session) {
  while (session->endpoints != NULL) drop_endpoint(session, session->endpoints);
}

bool do_close(struct command* command, struct session* session, struct answer* answer) {
  (void)answer;
  struct endpoint* endpoint = endpoint_of(command, session);
  if (endpoint == NULL) return false;
  drop_endpoint(session, endpoint);
  return true;
}
