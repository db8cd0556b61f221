/* Regions and windows, and their contents. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session.h"

/* What a right is to the device. */
#define FLAG_local_write IBV_ACCESS_LOCAL_WRITE
#define FLAG_remote_write IBV_ACCESS_REMOTE_WRITE
#define FLAG_remote_read IBV_ACCESS_REMOTE_READ
#define FLAG_remote_atomic IBV_ACCESS_REMOTE_ATOMIC
#define FLAG_remote_invalidate 0 /* it lets peers invalidate any region */

enum right_to { REGION, REGION_OR_WINDOW };
#define RIGHT(word, to, feature) {#word, to, FEATURE_##feature, FLAG_##word},
static const struct right {
  const char* name;
  enum right_to to;
  enum feature feature;
  int flag;
} rights[] = {PROTOCOL_ACCESS(RIGHT)};
#undef RIGHT

static bool add_right(struct command* command, const struct session* session, const char* name,
                      size_t size, enum right_to to, int* access) {
  for (size_t i = 0; i < sizeof rights / sizeof *rights; ++i) {
    const struct right* each = &rights[i];
    if (strlen(each->name) != size || memcmp(each->name, name, size) != 0) continue;
    if (to == REGION_OR_WINDOW && each->to == REGION) break;
    *access |= each->flag;
    return need(command, session, each->feature);
  }
  return refuse(command, EINVAL, "access '%.*s' is not known here", size < 60 ? (int)size : 60,
                name);
}

static bool read_access(struct command* command, const struct session* session, enum right_to to,
                        int* access) {
  const char* list = value_of(command, "access");
  *access = 0;
  if (strcmp(list, "none") == 0) return true;
  for (;;) {
    const size_t size = strcspn(list, ",");
    if (!add_right(command, session, list, size, to, access)) return false;
    if (list[size] == '\0') return true;
    list += size + 1;
  }
}

/* Both ends are inside: a range of no octets may stand at the end. */
static bool check_range(struct command* command, const struct region* region, uint64_t offset,
                        uint64_t length) {
  if (offset <= region->size && length <= region->size - offset) return true;
  return refuse(command, EINVAL, "the octets are not inside the region of %zu", region->size);
}

static void free_region(struct region* region) {
  if (region->mr != NULL) ibv_dereg_mr(region->mr);
  free(region->memory);
  free(region);
}

static struct region* make_region(struct session* session, size_t size, int access, int fill) {
  struct region* region = calloc(1, sizeof *region);
  if (region == NULL) return NULL;
  region->size = size;
  void* memory = NULL;
  errno = posix_memalign(&memory, (size_t)sysconf(_SC_PAGESIZE), size != 0 ? size : 1);
  if (errno == 0) {
    region->memory = memory;
    memset(region->memory, fill, size);
    if (session->features[FEATURE_window]) access |= IBV_ACCESS_MW_BIND;
    region->mr = ibv_reg_mr(session->pd, region->memory, size, access);
  }
  if (region->mr != NULL) return region;
  const int error = errno;
  free_region(region);
  errno = error;
  return NULL;
}

bool do_region(struct command* command, struct session* session, struct answer* answer) {
  uint64_t size;
  int access;
  unsigned char fill = 0;
  size_t filled = 1;
  if (!read_number(command, "size", UINT64_MAX, &size) ||
      !read_access(command, session, REGION, &access) ||
      (has_pair(command, "fill") && !read_octets(command, "fill", &fill, 1, &filled))) {
    return false;
  }
  if (filled != 1) return refuse(command, EINVAL, "fill is not one octet");
  if (size > session->most_octets - session->octets) {
    return refuse(command, ENOMEM, "the regions would exceed %zu octets", session->most_octets);
  }
  struct region* region = make_region(session, (size_t)size, access, fill);
  if (region == NULL) return refuse(command, errno, "memory region: %s", strerror(errno));
  session->octets += region->size;
  region->number = session->next_number++;
  region->next = session->regions;
  session->regions = region;
  answer_number(answer, "region", region->number);
  answer_stag(answer, "stag", region->mr->rkey);
  answer_address(answer, "address", (uintptr_t)region->memory);
  return true;
}

struct region* region_of(struct command* command, const struct session* session) {
  uint64_t number;
  if (!read_number(command, "region", UINT64_MAX, &number)) return NULL;
  struct region* region = session->regions;
  while (region != NULL && region->number != number) region = region->next;
  if (region == NULL) refuse(command, EINVAL, "there is no such region");
  return region;
}

void drop_windows(struct session* session, uint64_t endpoint, uint64_t region) {
  const bool all = endpoint == 0 && region == 0;
  for (struct window** link = &session->windows; *link != NULL;) {
    struct window* window = *link;
    if (!all && window->endpoint != endpoint && window->region != region) {
      link = &window->next;
      continue;
    }
    *link = window->next;
    ibv_dealloc_mw(window->mw);
    free(window);
  }
}

static void drop_region(struct session* session, struct region* region) {
  struct region** link = &session->regions;
  while (*link != region) link = &(*link)->next;
  *link = region->next;
  session->octets -= region->size;
  drop_windows(session, 0, region->number);
  free_region(region);
}

void drop_regions(struct session* session) {
  while (session->regions != NULL) drop_region(session, session->regions);
}

bool do_deregister(struct command* command, struct session* session, struct answer* answer) {
  (void)answer;
  struct region* region = region_of(command, session);
  if (region == NULL) return false;
  drop_region(session, region);
  return true;
}

static bool bind_new_window(struct command* command, struct session* session,
                            struct endpoint* endpoint, struct window* window,
                            struct ibv_mw_bind_info* info) {
  struct ibv_send_wr request = {.opcode = IBV_WR_BIND_MW};
  request.bind_mw.mw = window->mw;
  request.bind_mw.rkey = ibv_inc_rkey(window->mw->rkey);
  request.bind_mw.bind_info = *info;
  if (!bind_window(command, endpoint, &request, session->control)) return false;
  window->mw->rkey = request.bind_mw.rkey;
  return true;
}

bool do_window(struct command* command, struct session* session, struct answer* answer) {
  uint64_t offset, length;
  int access;
  struct endpoint* endpoint = endpoint_of(command, session);
  struct region* region = endpoint != NULL ? region_of(command, session) : NULL;
  if (region == NULL || !read_number(command, "offset", UINT64_MAX, &offset) ||
      !read_number(command, "length", UINT64_MAX, &length) ||
      !check_range(command, region, offset, length) ||
      !read_access(command, session, REGION_OR_WINDOW, &access)) {
    return false;
  }
  await_connection(endpoint, session->control);
  struct window* window = calloc(1, sizeof *window);
  if (window != NULL) window->mw = ibv_alloc_mw(session->pd, IBV_MW_TYPE_2);
  if (window == NULL || window->mw == NULL) {
    const int error = errno;
    free(window);
    return refuse(command, error, "memory window: %s", strerror(error));
  }
  struct ibv_mw_bind_info info = {.mr = region->mr,
                                  .addr = (uintptr_t)region->memory + offset,
                                  .length = length,
                                  .mw_access_flags = (unsigned)access};
  if (!bind_new_window(command, session, endpoint, window, &info)) {
    ibv_dealloc_mw(window->mw);
    free(window);
    return false;
  }
  window->endpoint = endpoint->number;
  window->region = region->number;
  window->next = session->windows;
  session->windows = window;
  answer_stag(answer, "stag", window->mw->rkey);
  return true;
}

bool do_fetch(struct command* command, struct session* session, struct answer* answer) {
  uint64_t offset, length;
  const struct region* region = region_of(command, session);
  if (region == NULL || !read_number(command, "offset", UINT64_MAX, &offset) ||
      !read_number(command, "length", PROTOCOL_MOST_OCTETS, &length) ||
      !check_range(command, region, offset, length)) {
    return false;
  }
  answer_octets(answer, "data", region->memory + offset, (size_t)length);
  return true;
}

bool do_store(struct command* command, struct session* session, struct answer* answer) {
  (void)answer;
  static unsigned char data[PROTOCOL_LONGEST_LINE / 2];
  uint64_t offset;
  size_t size;
  struct region* region = region_of(command, session);
  if (region == NULL || !read_number(command, "offset", UINT64_MAX, &offset) ||
      !read_octets(command, "data", data, sizeof data, &size) ||
      !check_range(command, region, offset, size)) {
    return false;
  }
  memcpy(region->memory + offset, data, size);
  return true;
}

bool read_sge(struct command* command, const struct session* session, struct ibv_sge* sge) {
  uint64_t offset, length;
  const struct region* region = region_of(command, session);
  if (region == NULL || !read_number(command, "offset", UINT64_MAX, &offset) ||
      !read_number(command, "length", UINT32_MAX, &length) ||
      !check_range(command, region, offset, length)) {
    return false;
  }
  *sge = (struct ibv_sge){.addr = (uintptr_t)region->memory + offset,
                          .length = (uint32_t)length,
                          .lkey = region->mr->lkey};
  return true;
}
