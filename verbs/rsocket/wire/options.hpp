#pragma once

#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>
#include <cstdint>

#include "wire/sizes.hpp"

namespace iwarp::rsocket {

/// What rsetsockopt sets. The sizes count for connections made later.
struct Options {
  int receive_buffer = 128 * 1024;  ///< SO_RCVBUF, octets.
  int send_buffer = 128 * 1024;     ///< SO_SNDBUF, octets.
  int send_queue = 384;             ///< RDMA_SQSIZE, work requests.
  int receive_queue = 384;          ///< RDMA_RQSIZE, receives.
  int inline_size = 64;             ///< RDMA_INLINE; this transport copies small payloads anyway.
  int mappings = 0;                 ///< RDMA_IOMAPSIZE.
  int reuse_address = 0, reuse_port = 0, keep_alive = 0, no_delay = 0, out_of_band_inline = 0,
      only_v6 = 0;
  int keep_idle = 7200, keep_interval = 75, keep_count = 9;  ///< Seconds, seconds, probes.
  linger linger_time{};
  timeval receive_timeout{}, send_timeout{};
  std::chrono::microseconds polling_time{50};  ///< How long a call polls before it sleeps.

  /// The defaults, as /etc/rdma/rsocket changes them (rsocket(7)). Read once.
  static const Options& defaults();

  /// The sizes, within what the protocol and sense allow.
  [[nodiscard]] Sizes sizes() const;

  /// As setsockopt(2), for what needs no connection. Returns 0 or an errno: ENOPROTOOPT for options
  /// that there are not, EINVAL for values that cannot be.
  int set(int level, int name, const void* value, socklen_t length);
  /// As getsockopt(2), likewise.
  int get(int level, int name, void* value, socklen_t* length) const;

 private:
  int* number(int level, int name);
};

/// Copies a value to where getsockopt(2) wants it, cut to the room there.
int give_option(const void* from, std::size_t size, void* value, socklen_t* length);

}  // namespace iwarp::rsocket
