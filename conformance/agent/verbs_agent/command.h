/* The lines of PROTOCOL.md: a command from the tester, an answer to it. */
#ifndef VERBS_AGENT_COMMAND_H
#define VERBS_AGENT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

#define MOST_PAIRS 16

struct pair {
  const char *name, *value;
};

/* A command, and why it is refused if it is. Everything that can refuse it returns false then. */
struct command {
  const char* word;
  struct pair pairs[MOST_PAIRS];
  size_t count;
  int code; /* an errno */
  char text[256];
};

__attribute__((format(printf, 3, 4))) bool refuse(struct command* command, int code,
                                                  const char* format, ...);

/* Cuts up `line`, which has `size` octets and a NUL behind them, and which the command refers to
 * from then on. */
bool parse_command(struct command* command, char* line, size_t size);
/* Each of `required` is there and nothing but these and `optional`: names, separated by spaces. */
bool check_pairs(struct command* command, const char* required, const char* optional);

/* NULL if there is no such pair. */
const char* value_of(const struct command* command, const char* name);
bool has_pair(const struct command* command, const char* name);
/* A decimal number, at most `most`. */
bool read_number(struct command* command, const char* name, uint64_t most, uint64_t* value);
/* The same, but `value` stays as it is if there is no such pair. */
bool read_optional_number(struct command* command, const char* name, uint64_t most,
                          uint64_t* value);
/* The pair `ms`: how long the command may wait. */
bool read_wait(struct command* command, uint64_t* milliseconds);
/* A hexadecimal number with 0x. */
bool read_hex(struct command* command, const char* name, uint64_t most, uint64_t* value);
/* Octets, at most `room`. */
bool read_octets(struct command* command, const char* name, unsigned char* into, size_t room,
                 size_t* size);

/* One line without its LF. */
struct answer {
  size_t size;
  char line[PROTOCOL_LONGEST_LINE + 1];
};

void begin_answer(struct answer* answer); /* ok */
void answer_error(struct answer* answer, int code, const char* text);
void answer_text(struct answer* answer, const char* name, const char* value);
void answer_number(struct answer* answer, const char* name, uint64_t value);
void answer_stag(struct answer* answer, const char* name, uint32_t value);
void answer_address(struct answer* answer, const char* name, uint64_t value);
void answer_octets(struct answer* answer, const char* name, const unsigned char* octets,
                   size_t size);

#endif
