#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The pairs of `post` depend on its operation, which checks them. */
#define COMMAND(word, required, optional, feature, ...) \
  {#word, required, optional, FEATURE_##feature, do_##word},
static const struct {
  const char *word, *required, *optional;
  enum feature feature;
  execute* execute;
} commands[] = {PROTOCOL_COMMANDS(COMMAND)};
#undef COMMAND

static const char* const feature_names[] = {"none", PROTOCOL_FEATURES(PROTOCOL_NAME)};

/* --- the device --- */

/* No device tells of FEATURE_immediate (RFC 7306, eight octets) through these libraries, and all of
 * them choose the start-up of MPA themselves. */
static void find_features(struct session* session) {
  const struct ibv_device_attr* device = &session->limits;
  const unsigned type_2 = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  const unsigned extensions = IBV_DEVICE_MEM_MGT_EXTENSIONS;
  bool* features = session->features;
  features[FEATURE_none] = true;
  features[FEATURE_window] = (device->device_cap_flags & type_2) != 0;
  features[FEATURE_atomic] = device->atomic_cap != IBV_ATOMIC_NONE;
  features[FEATURE_send_inv] = (device->device_cap_flags & extensions) != 0;
  features[FEATURE_read] = device->max_qp_rd_atom > 0;
  features[FEATURE_remote_invalidate] = session->settings.remote_invalidate;
}

static int open_device(struct session* session) {
  session->channel = open_channel();
  if (session->channel == NULL) return errno;
  struct sockaddr* address = (struct sockaddr*)&session->address;
  if (rdma_create_id(session->channel, &session->device, NULL, RDMA_PS_TCP) != 0) return errno;
  if (rdma_bind_addr(session->device, address) != 0) return errno;
  struct ibv_context* verbs = session->device->verbs;
  if (verbs == NULL) return ENODEV;
  struct ibv_port_attr port;
  const int error = ibv_query_device(verbs, &session->limits);
  if (error != 0) return error;
  if (ibv_query_port(verbs, session->device->port_num, &port) == 0) {
    session->max_message = port.max_msg_sz;
  }
  session->pd = ibv_alloc_pd(verbs);
  return session->pd != NULL ? 0 : errno;
}

int open_session(struct session* session, const struct sockaddr* address) {
  const size_t size =
      address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
  memset(&session->address, 0, sizeof session->address);
  memcpy(&session->address, address, size);
  session->next_number = 1;
  /* A mistake of the tester's shall not take the machine's memory. */
  const size_t gibibyte = (size_t)1 << 30;
  const size_t half = (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGESIZE);
  session->most_octets = half < gibibyte ? half : gibibyte;
  const int error = open_device(session);
  if (error != 0) {
    close_session(session);
    return error;
  }
  find_features(session);
  return 0;
}

void close_session(struct session* session) {
  drop_endpoints(session);
  drop_windows(session, 0, 0);
  drop_regions(session);
  drop_listener(session);
  if (session->pd != NULL) ibv_dealloc_pd(session->pd);
  if (session->device != NULL) rdma_destroy_id(session->device);
  if (session->channel != NULL) rdma_destroy_event_channel(session->channel);
  session->pd = NULL;
  session->device = NULL;
  session->channel = NULL;
}

/* --- commands --- */

bool need(struct command* command, const struct session* session, enum feature feature) {
  if (session->features[feature]) return true;
  return refuse(command, EOPNOTSUPP, "this device is without %s", feature_names[feature]);
}

struct endpoint* endpoint_of(struct command* command, const struct session* session) {
  uint64_t number;
  if (!read_number(command, "endpoint", UINT64_MAX, &number)) return NULL;
  struct endpoint* endpoint = session->endpoints;
  while (endpoint != NULL && endpoint->number != number) endpoint = endpoint->next;
  if (endpoint == NULL) refuse(command, EINVAL, "there is no such endpoint");
  return endpoint;
}

bool do_hello(struct command* command, struct session* session, struct answer* answer) {
  uint64_t version;
  if (!read_number(command, "version", UINT64_MAX, &version)) return false;
  if (version != PROTOCOL_VERSION) {
    return refuse(command, EPROTONOSUPPORT, "this agent speaks version %d", PROTOCOL_VERSION);
  }
  char features[128] = "";
  for (int feature = FEATURE_none + 1; feature < FEATURE_COUNT; ++feature) {
    if (!session->features[feature]) continue;
    if (*features != '\0') strcat(features, ",");
    strcat(features, feature_names[feature]);
  }
  answer_number(answer, "version", PROTOCOL_VERSION);
  answer_text(answer, "name", ibv_get_device_name(session->device->verbs->device));
  answer_text(answer, "features", *features != '\0' ? features : feature_names[FEATURE_none]);
  answer_number(answer, "max_message", session->max_message);
  const uint16_t one = 1;
  answer_text(answer, "order", *(const unsigned char*)&one == 1 ? "little" : "big");
  return true;
}

bool do_reset(struct command* command, struct session* session, struct answer* answer) {
  (void)command;
  (void)answer;
  drop_requests(session);
  drop_endpoints(session);
  drop_windows(session, 0, 0);
  drop_regions(session);
  return true;
}

static bool dispatch(struct command* command, struct session* session, struct answer* answer) {
  for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i) {
    if (strcmp(command->word, commands[i].word) != 0) continue;
    return check_pairs(command, commands[i].required, commands[i].optional) &&
           need(command, session, commands[i].feature) &&
           commands[i].execute(command, session, answer);
  }
  return refuse(command, EINVAL, "there is no such command");
}

void answer_line(struct session* session, char* line, size_t size, struct answer* answer) {
  struct command command;
  begin_answer(answer);
  if (parse_command(&command, line, size) && dispatch(&command, session, answer)) return;
  answer_error(answer, command.code, command.text);
}
