/* The agent of PROTOCOL.md for any device that librdmacm and libibverbs know. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

static const char usage[] =
    "usage: verbs_agent [options]\n"
    "Lets a tester (iwarp conform --agent) work with an RDMA device of this machine.\n"
    "  --address A          of the RDMA device, for the control connection and for iWARP; without\n"
    "                       it all, and iWARP where the tester reaches the agent\n"
    "  --port P             of the control connection (7470); 0: a free one\n"
    "  --iwarp-port P       of the listener for iWARP (0: a free one)\n"
    "  --once               end when the first tester has gone\n"
    "  --remote-invalidate  the device lets peers invalidate any region (siw does)\n"
    "  -h, --help           this text\n"
    "Prints one line with its address when it is ready. A peer that can connect decides what it\n"
    "does with its memory: use it on networks that you trust.\n";

static volatile sig_atomic_t stopped;

static void stop(int signal_number) {
  (void)signal_number;
  stopped = 1;
}

struct options {
  const char* address;
  uint16_t port;
  bool once;
  struct settings settings;
};

static uint16_t parse_port(const char* text) {
  char* end;
  errno = 0;
  const unsigned long port = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || port > UINT16_MAX) {
    fprintf(stderr, "verbs_agent: '%s' is no port\n", text);
    exit(2);
  }
  return (uint16_t)port;
}

static struct options parse_options(int count, char** words) {
  static const struct option known[] = {{"address", required_argument, NULL, 'a'},
                                        {"port", required_argument, NULL, 'p'},
                                        {"iwarp-port", required_argument, NULL, 'i'},
                                        {"once", no_argument, NULL, 'o'},
                                        {"remote-invalidate", no_argument, NULL, 'r'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  struct options options = {.port = PROTOCOL_PORT};
  for (int option; (option = getopt_long(count, words, "h", known, NULL)) != -1;) {
    switch (option) {
      case 'a': options.address = optarg; break;
      case 'p': options.port = parse_port(optarg); break;
      case 'i': options.settings.iwarp_port = parse_port(optarg); break;
      case 'o': options.once = true; break;
      case 'r': options.settings.remote_invalidate = true; break;
      case 'h': fputs(usage, stdout); exit(0);
      default: fputs(usage, stderr); exit(2);
    }
  }
  if (optind == count) return options;
  fprintf(stderr, "verbs_agent: '%s' is not an option\n", words[optind]);
  exit(2);
}

static int fail(const char* what, int error) {
  fprintf(stderr, "verbs_agent: %s: %s\n", what, strerror(error));
  return 1;
}

static void print_address(int listener) {
  struct sockaddr_storage address;
  socklen_t size = sizeof address;
  char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";
  getsockname(listener, (struct sockaddr*)&address, &size);
  getnameinfo((struct sockaddr*)&address, size, host, sizeof host, port, sizeof port,
              NI_NUMERICHOST | NI_NUMERICSERV);
  printf(strchr(host, ':') != NULL ? "agent listens on [%s]:%s\n" : "agent listens on %s:%s\n",
         host, port);
  fflush(stdout);
}

/* Where the tester has reached the agent; its port is 0. */
static void address_of_tester(int tester, struct sockaddr_storage* address) {
  socklen_t size = sizeof *address;
  memset(address, 0, sizeof *address);
  getsockname(tester, (struct sockaddr*)address, &size);
  if (address->ss_family != AF_INET6) {
    ((struct sockaddr_in*)address)->sin_port = 0;
    return;
  }
  struct sockaddr_in6* v6 = (struct sockaddr_in6*)address;
  v6->sin6_port = 0;
  if (!IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) return;
  struct sockaddr_in v4 = {.sin_family = AF_INET};
  memcpy(&v4.sin_addr, v6->sin6_addr.s6_addr + 12, sizeof v4.sin_addr);
  memset(address, 0, sizeof *address);
  memcpy(address, &v4, sizeof v4);
}

/* Whether a tester was served: a connection without a single line is none. Without a device each
 * line is answered with what is wrong. */
static bool serve(struct control* control, const struct settings* settings) {
  static struct answer answer;
  static struct session session;
  struct sockaddr_storage address;
  address_of_tester(control->tester, &address);
  session = (struct session){.control = control, .settings = *settings};
  const int error = open_session(&session, (struct sockaddr*)&address);
  bool spoke = false, served = true;
  while (served && !stopped) {
    attend(control);
    size_t size = 0;
    const enum line line = next_line(control, &size);
    if (line == LINE_END) break;
    if (line == LINE_NONE) continue;
    spoke = true;
    if (line == LINE_TOO_LONG) {
      answer_error(&answer, EINVAL, "the line is too long");
    } else if (error != 0) {
      answer_error(&answer, ENODEV, "no RDMA device at the address where the agent was reached");
    } else {
      answer_line(&session, control->received, size, &answer);
    }
    drop_line(control, size);
    served = send_answer(control, &answer);
  }
  if (error == 0) close_session(&session);
  return spoke;
}

static int open_port(struct control* control, const struct options* options) {
  char port[8];
  snprintf(port, sizeof port, "%u", options->port);
  const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
                                 .ai_socktype = SOCK_STREAM};
  struct addrinfo* found;
  if (getaddrinfo(options->address, port, &hints, &found) != 0) return EINVAL;
  const int error = open_control(control, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  return error;
}

/* With an address it is known at once whether it is a device's. */
static int check_device(const struct options* options) {
  static struct session session;
  const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
  struct addrinfo* found;
  if (getaddrinfo(options->address, NULL, &hints, &found) != 0) return EINVAL;
  const int error = open_session(&session, found->ai_addr);
  freeaddrinfo(found);
  if (error == 0) close_session(&session);
  return error;
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
}

int main(int count, char** words) {
  static struct control control;
  const struct options options = parse_options(count, words);
  catch_signals();
  control.stopped = &stopped;
  int error = options.address != NULL ? check_device(&options) : 0;
  if (error != 0) return fail("no RDMA device has this address", error);
  error = open_port(&control, &options);
  if (error != 0) return fail("cannot listen for testers", error);
  print_address(control.listener);
  for (bool served = false; !stopped && !(served && options.once);) {
    if (!next_tester(&control)) continue;
    served = serve(&control, &options.settings) || served;
    end_tester(&control);
  }
  return 0;
}
