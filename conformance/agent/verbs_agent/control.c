#include "control.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SLICE = 50, SEND_PATIENCE = 30000, OTHERS_WAIT = 500 }; /* milliseconds */
enum { MOST_AT_ONCE = 65536, CONTROL_BACKLOG = 16 };

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int64_t deadline_after(uint64_t milliseconds) { return now() + (int64_t)milliseconds; }

static int ready(int descriptor, short events, int timeout) {
  struct pollfd entry = {.fd = descriptor, .events = events};
  return poll(&entry, 1, timeout) > 0 ? entry.revents : 0;
}

static void set(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof value);
}

int open_control(struct control* control, const struct sockaddr* address, socklen_t size) {
  control->tester = -1;
  control->listener =
      socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (control->listener < 0) return errno;
  set(control->listener, SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(control->listener, address, size) != 0 ||
      listen(control->listener, CONTROL_BACKLOG) != 0) {
    return errno;
  }
  return 0;
}

static int accept_one(const struct control* control) {
  return accept4(control->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

bool next_tester(struct control* control) {
  if (ready(control->listener, POLLIN, 2 * SLICE) == 0) return false;
  control->tester = accept_one(control);
  if (control->tester < 0) return false;
  control->size = 0;
  control->skipping = false;
  control->other_since = 0;
  set(control->tester, IPPROTO_TCP, TCP_NODELAY, 1);
  /* A tester whose machine has died is noticed after a minute. */
  set(control->tester, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(control->tester, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(control->tester, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(control->tester, IPPROTO_TCP, TCP_KEEPCNT, 3);
  return true;
}

void end_tester(struct control* control) {
  close(control->tester);
  control->tester = -1;
}

/* The line at the beginning of what was received, if it is whole. */
static enum line take_line(struct control* control, size_t* size) {
  char* end = memchr(control->received, '\n', control->size);
  if (end == NULL) {
    if (control->size <= PROTOCOL_LONGEST_LINE) return LINE_NONE;
    control->size = 0;
    control->skipping = true;
    return LINE_NONE;
  }
  *size = (size_t)(end - control->received);
  *end = '\0';
  const bool too_long = control->skipping || *size > PROTOCOL_LONGEST_LINE;
  control->skipping = false;
  return too_long ? LINE_TOO_LONG : LINE_WHOLE;
}

enum line next_line(struct control* control, size_t* size) {
  const enum line line = take_line(control, size);
  if (line != LINE_NONE) return line;
  if (ready(control->tester, POLLIN, 2 * SLICE) == 0) return LINE_NONE;
  /* Not more at once: each line that is dropped moves the rest. */
  const size_t room = sizeof control->received - control->size;
  const ssize_t got = recv(control->tester, control->received + control->size,
                           room < MOST_AT_ONCE ? room : MOST_AT_ONCE, MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? LINE_NONE : LINE_END;
  if (got == 0) return LINE_END;
  control->size += (size_t)got;
  return take_line(control, size);
}

void drop_line(struct control* control, size_t size) {
  control->size -= size + 1;
  memmove(control->received, control->received + size + 1, control->size);
}

static bool send_all(int socket, const char* octets, size_t size) {
  const int64_t deadline = deadline_after(SEND_PATIENCE);
  while (size > 0) {
    const ssize_t sent = send(socket, octets, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      octets += sent;
      size -= (size_t)sent;
    } else if ((errno != EAGAIN && errno != EINTR) || now() > deadline) {
      return false;
    } else {
      ready(socket, POLLOUT, SLICE);
    }
  }
  return true;
}

bool send_answer(struct control* control, struct answer* answer) {
  answer->line[answer->size] = '\n';
  return send_all(control->tester, answer->line, answer->size + 1);
}

static bool tester_gone(const struct control* control) {
  return ready(control->tester, POLLRDHUP, 0) != 0;
}

static void turn_away(int other) {
  static const char busy[] = "error EBUSY the agent serves another tester\n";
  /* Its command is read first: a socket closed with octets unread takes the answer with it. */
  char command[4096];
  if (ready(other, POLLIN, 2 * SLICE) != 0) {
    while (recv(other, command, sizeof command, MSG_DONTWAIT) > 0) continue;
  }
  send_all(other, busy, sizeof busy - 1);
  close(other);
}

/* The end of a tester may be seen later than the beginning of the next: that one waits a little. */
static void turn_others_away(struct control* control) {
  if (ready(control->listener, POLLIN, 0) == 0) {
    control->other_since = 0;
    return;
  }
  if (control->other_since == 0) control->other_since = now();
  if (now() - control->other_since < OTHERS_WAIT) return;
  for (int other; (other = accept_one(control)) >= 0;) turn_away(other);
}

bool attend(struct control* control) {
  turn_others_away(control);
  return !*control->stopped && !tester_gone(control);
}

bool wait_slice(struct control* control, int descriptor, int64_t deadline) {
  const int64_t left = deadline - now();
  if (left <= 0) return false;
  ready(descriptor, POLLIN, left < SLICE ? (int)left : SLICE);
  return attend(control);
}
