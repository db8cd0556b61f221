/* The table of the agent's protocol: the words that PROTOCOL.md explains. The tester, the agent of
 * our own stack and this agent are made from it, so that a word is added in one place. It stands in
 * this folder because the folder can be taken out of the project and built alone.
 *
 * Each list is a macro that calls its argument once for each line. Pairs are names with a space in
 * between. A feature is a word of PROTOCOL_FEATURES, or `none`. */
#ifndef VERBS_AGENT_PROTOCOL_H
#define VERBS_AGENT_PROTOCOL_H

#define PROTOCOL_VERSION 1
#define PROTOCOL_PORT 7470
#define PROTOCOL_LONGEST_LINE 200000  /* octets, its LF not counted */
#define PROTOCOL_MOST_OCTETS 99000    /* that one `fetch` returns: they fit into a line */
#define PROTOCOL_LONGEST_WAIT 3600000 /* milliseconds */

/* One line for each word. */
/* clang-format off */

/* A command; the pairs that it must have; those that it may have; the feature that it needs; the
 * pairs that its `ok` must have; those that it may have. Which of the pairs of a `post` must be
 * there depends on its operation. */
#define PROTOCOL_COMMANDS(X) \
  X(hello, "version", "", none, "version name features max_message order", "") \
  X(reset, "", "", none, "", "") \
  X(listen, "", "ird ord revision crc markers p2p", none, "port", "") \
  X(await, "ms", "", none, "endpoint private ird ord", "") \
  X(accept, "endpoint", "private ird ord", none, "", "") \
  X(reject, "endpoint", "private", none, "", "") \
  X(dial, "address port", "revision crc markers p2p", none, "endpoint", "") \
  X(connect, "endpoint", "private ird ord", none, "", "") \
  X(event, "endpoint ms", "", none, "event", "private ird ord") \
  X(disconnect, "endpoint", "", none, "", "") \
  X(close, "endpoint", "", none, "", "") \
  X(region, "size access", "fill", none, "region stag address", "") \
  X(deregister, "region", "", none, "", "") \
  X(window, "endpoint region offset length access", "", window, "stag", "") \
  X(fetch, "region offset length", "", none, "data", "") \
  X(store, "region offset data", "", none, "", "") \
  X(receive, "endpoint id region offset length", "", none, "", "") \
  X(post, "endpoint id op", "region offset length stag address invalidate immediate add compare swap", \
    none, "", "") \
  X(completion, "endpoint ms", "", none, "", \
    "completion id status op length invalidated immediate solicited")

/* An operation of `post`; the pairs that it has beside endpoint, id and op; the feature. */
#define PROTOCOL_OPERATIONS(X) \
  X(send, "region offset length", none) \
  X(send_se, "region offset length", none) \
  X(send_inv, "region offset length invalidate", send_inv) \
  X(send_se_inv, "region offset length invalidate", send_inv) \
  X(write, "region offset length stag address", none) \
  X(read, "region offset length stag address", read) \
  X(fetch_add, "region offset length stag address add", atomic) \
  X(cmp_swap, "region offset length stag address compare swap", atomic) \
  X(write_imm, "region offset length stag address immediate", immediate) \
  X(imm, "immediate", immediate) \
  X(imm_se, "immediate", immediate)

/* A right of `access`; what it can be a right to; the feature. */
#define PROTOCOL_ACCESS(X) \
  X(local_write, REGION, none) \
  X(remote_write, REGION_OR_WINDOW, none) \
  X(remote_read, REGION_OR_WINDOW, none) \
  X(remote_atomic, REGION_OR_WINDOW, atomic) \
  X(remote_invalidate, REGION, remote_invalidate)

#define PROTOCOL_FEATURES(X) \
  X(window) X(atomic) X(immediate) X(send_inv) X(read) X(mpa) X(markers) X(remote_invalidate)

/* What `event` tells. */
#define PROTOCOL_EVENTS(X) X(established) X(rejected) X(disconnected) X(failed) X(none)

/* How a request has ended. */
#define PROTOCOL_STATUSES(X) \
  X(success) X(local_length) X(local_protection) X(flushed) X(remote_access) X(remote_operation) \
  X(remote_invalid_request) X(bind) X(aborted) X(other)

/* The codes that mean something to the tester. Other codes are the stack's own words. */
#define PROTOCOL_ERRORS(X) \
  X(EINVAL) X(EPROTONOSUPPORT) X(EBUSY) X(ETIMEDOUT) X(EOPNOTSUPP) X(ENOTCONN)

/* clang-format on */

/* Makes strings of a list that has nothing but words. */
#define PROTOCOL_NAME(word) #word,

#endif
