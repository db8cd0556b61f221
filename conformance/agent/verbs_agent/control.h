/* The control port, and the connection of the tester that is being served. */
#ifndef VERBS_AGENT_CONTROL_H
#define VERBS_AGENT_CONTROL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "command.h"

struct control {
  int listener;
  int tester; /* -1: none */
  size_t size;
  bool skipping;       /* the rest of a line that was too long */
  int64_t other_since; /* since then another tester waits; 0: none does */
  char received[PROTOCOL_LONGEST_LINE + 2];
  volatile sig_atomic_t* stopped;
};

/* 0, or an errno. A port of 0 is chosen by the system. */
int open_control(struct control* control, const struct sockaddr* address, socklen_t size);
/* True if a tester has come within a short while. */
bool next_tester(struct control* control);
void end_tester(struct control* control);

enum line { LINE_WHOLE, LINE_TOO_LONG, LINE_NONE, LINE_END };
/* The next line, its LF replaced by a NUL; valid until the next call with `taken` octets of it. */
enum line next_line(struct control* control, size_t* size);
/* Makes room again after a line of `size` octets has been dealt with. */
void drop_line(struct control* control, size_t size);
/* False if the tester has gone or takes nothing for half a minute. */
bool send_answer(struct control* control, struct answer* answer);

/* Between the slices of a wait: others are told that the agent is busy. False if the tester has
 * gone or the agent shall end. */
bool attend(struct control* control);

/* Waits until `descriptor` can be read, the deadline or a slice of time is over; then attends.
 * False: there is no use in waiting on. */
bool wait_slice(struct control* control, int descriptor, int64_t deadline);
int64_t deadline_after(uint64_t milliseconds);

#endif
