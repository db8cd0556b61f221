#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool refuse(struct command* command, int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command->text, sizeof command->text, format, arguments);
  va_end(arguments);
  command->code = code;
  return false;
}

/* Cuts off what stands before the first space, or NULL if nothing is left. */
static char* next_word(char** rest) {
  char* word = *rest;
  if (word == NULL) return NULL;
  char* space = strchr(word, ' ');
  if (space != NULL) *space = '\0';
  *rest = space != NULL ? space + 1 : NULL;
  return word;
}

static bool add_pair(struct command* command, char* text) {
  char* equals = strchr(text, '=');
  if (equals == NULL || equals == text) {
    return refuse(command, EINVAL, "'%.60s' is not name=value", text);
  }
  *equals = '\0';
  if (has_pair(command, text)) {
    return refuse(command, EINVAL, "the pair '%.60s' is there twice", text);
  }
  if (command->count == MOST_PAIRS) return refuse(command, EINVAL, "there are too many pairs");
  command->pairs[command->count++] = (struct pair){.name = text, .value = equals + 1};
  return true;
}

bool parse_command(struct command* command, char* line, size_t size) {
  *command = (struct command){.word = ""};
  for (size_t i = 0; i < size; ++i) {
    if (line[i] < ' ' || line[i] > '~') {
      return refuse(command, EINVAL, "the line is not printable ASCII");
    }
  }
  char* rest = line;
  command->word = next_word(&rest);
  if (*command->word == '\0') {
    return refuse(command, EINVAL, "the line does not begin with a command");
  }
  for (char* text; (text = next_word(&rest)) != NULL;) {
    if (!add_pair(command, text)) return false;
  }
  return true;
}

static bool is_among(const char* name, const char* names) {
  const size_t size = strlen(name);
  while (*names != '\0') {
    const size_t word = strcspn(names, " ");
    if (word == size && memcmp(name, names, size) == 0) return true;
    names += word + (names[word] == ' ' ? 1 : 0);
  }
  return false;
}

static bool check_present(struct command* command, const char* required) {
  while (*required != '\0') {
    char name[32];
    const size_t size = strcspn(required, " ");
    snprintf(name, sizeof name, "%.*s", (int)size, required);
    if (!has_pair(command, name)) {
      return refuse(command, EINVAL, "%s lacks the pair %s", command->word, name);
    }
    required += size + (required[size] == ' ' ? 1 : 0);
  }
  return true;
}

bool check_pairs(struct command* command, const char* required, const char* optional) {
  if (!check_present(command, required)) return false;
  for (size_t i = 0; i < command->count; ++i) {
    const char* name = command->pairs[i].name;
    if (!is_among(name, required) && !is_among(name, optional)) {
      return refuse(command, EINVAL, "%s has no pair '%.60s'", command->word, name);
    }
  }
  return true;
}

const char* value_of(const struct command* command, const char* name) {
  for (size_t i = 0; i < command->count; ++i) {
    if (strcmp(command->pairs[i].name, name) == 0) return command->pairs[i].value;
  }
  return NULL;
}

bool has_pair(const struct command* command, const char* name) {
  return value_of(command, name) != NULL;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* strtoull would take signs and spaces. */
static bool parse_number(const char* digits, unsigned base, uint64_t* value) {
  *value = 0;
  if (*digits == '\0') return false;
  for (; *digits != '\0'; ++digits) {
    const int digit = hex_digit(*digits);
    if (digit < 0 || (unsigned)digit >= base) return false;
    if (__builtin_mul_overflow(*value, (uint64_t)base, value) ||
        __builtin_add_overflow(*value, (uint64_t)digit, value)) {
      return false;
    }
  }
  return true;
}

static bool lacks(struct command* command, const char* name) {
  return refuse(command, EINVAL, "%s lacks the pair %s", command->word, name);
}

bool read_number(struct command* command, const char* name, uint64_t most, uint64_t* value) {
  const char* text = value_of(command, name);
  if (text == NULL) return lacks(command, name);
  if (parse_number(text, 10, value) && *value <= most) return true;
  return refuse(command, EINVAL, "%s='%.60s' is no decimal number up to %" PRIu64, name, text,
                most);
}

bool read_optional_number(struct command* command, const char* name, uint64_t most,
                          uint64_t* value) {
  return !has_pair(command, name) || read_number(command, name, most, value);
}

bool read_wait(struct command* command, uint64_t* milliseconds) {
  return read_number(command, "ms", PROTOCOL_LONGEST_WAIT, milliseconds);
}

bool read_hex(struct command* command, const char* name, uint64_t most, uint64_t* value) {
  const char* text = value_of(command, name);
  if (text == NULL) return lacks(command, name);
  if (strncmp(text, "0x", 2) == 0 && parse_number(text + 2, 16, value) && *value <= most) {
    return true;
  }
  return refuse(command, EINVAL, "%s='%.60s' is no hexadecimal number with 0x up to 0x%" PRIx64,
                name, text, most);
}

bool read_octets(struct command* command, const char* name, unsigned char* into, size_t room,
                 size_t* size) {
  const char* text = value_of(command, name);
  if (text == NULL) return lacks(command, name);
  *size = 0;
  if (strcmp(text, "-") == 0) return true;
  const size_t digits = strlen(text);
  bool good = digits != 0 && digits % 2 == 0;
  if (good && digits / 2 > room) {
    return refuse(command, EINVAL, "%s has more than %zu octets", name, room);
  }
  for (; good && 2 * *size < digits; ++*size) {
    const int high = hex_digit(text[2 * *size]), low = hex_digit(text[2 * *size + 1]);
    good = high >= 0 && low >= 0;
    if (good) into[*size] = (unsigned char)(high * 16 + low);
  }
  return good || refuse(command, EINVAL, "%s='%.60s' are no octets", name, text);
}

/* --- answers --- */

__attribute__((format(printf, 2, 3))) static void append(struct answer* answer, const char* format,
                                                         ...) {
  va_list arguments;
  va_start(arguments, format);
  const size_t room = sizeof answer->line - answer->size;
  const int size = vsnprintf(answer->line + answer->size, room, format, arguments);
  va_end(arguments);
  /* What does not fit is cut: only octets are long, and callers bound them. */
  answer->size += size < 0 ? 0 : (size_t)size < room ? (size_t)size : room - 1;
}

void begin_answer(struct answer* answer) {
  answer->size = 0;
  append(answer, "ok");
}

/* Of devices and sockets, beside those of the protocol. */
/* clang-format off */
#define OTHER_ERRORS(X) \
  X(ENOMEM) X(EIO) X(ENODEV) X(EACCES) X(EPERM) X(ENOENT) X(EFAULT) X(EISCONN) X(EAGAIN) \
  X(ENOSYS) X(EMFILE) X(ENFILE) X(EADDRINUSE) X(EADDRNOTAVAIL) X(ECONNREFUSED) X(ECONNRESET) \
  X(ENETUNREACH) X(EHOSTUNREACH) X(EPROTO) X(EMSGSIZE) X(ENXIO)
/* clang-format on */

/* Not each C library can name an errno. */
static const char* name_of_errno(int code) {
#define CODE_AND_NAME(code) {code, #code},
  static const struct {
    int code;
    const char* name;
  } names[] = {PROTOCOL_ERRORS(CODE_AND_NAME) OTHER_ERRORS(CODE_AND_NAME)};
#undef CODE_AND_NAME
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (names[i].code == code) return names[i].name;
  }
  return "EIO";
}

void answer_error(struct answer* answer, int code, const char* text) {
  answer->size = 0;
  append(answer, "error %s %s", name_of_errno(code), text);
}

void answer_text(struct answer* answer, const char* name, const char* value) {
  append(answer, " %s=%s", name, value);
}

void answer_number(struct answer* answer, const char* name, uint64_t value) {
  append(answer, " %s=%" PRIu64, name, value);
}

void answer_stag(struct answer* answer, const char* name, uint32_t value) {
  append(answer, " %s=0x%08" PRIx32, name, value);
}

void answer_address(struct answer* answer, const char* name, uint64_t value) {
  append(answer, " %s=0x%016" PRIx64, name, value);
}

void answer_octets(struct answer* answer, const char* name, const unsigned char* octets,
                   size_t size) {
  append(answer, " %s=%s", name, size == 0 ? "-" : "");
  for (size_t i = 0; i < size && answer->size + 2 < sizeof answer->line; ++i) {
    answer->line[answer->size++] = "0123456789abcdef"[octets[i] >> 4];
    answer->line[answer->size++] = "0123456789abcdef"[octets[i] & 15];
  }
  answer->line[answer->size] = '\0';
}
