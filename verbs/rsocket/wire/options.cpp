#include "wire/options.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

namespace iwarp::rsocket {

namespace {

constexpr int kMostBuffer = 256 * 1024 * 1024;
constexpr int kLeastBuffer = 4096;
constexpr int kMostQueue = 8192;
constexpr int kLeastQueue = 8;

std::uint32_t within(int least, int value, int most) {
  return static_cast<std::uint32_t>(std::clamp(value, least, most));
}

/// The number in a file of /etc/rdma/rsocket, if it is there and sensible.
void read_default(const char* file, int& value) {
  std::ifstream in(std::string("/etc/rdma/rsocket/") + file);
  if (int number = 0; in >> number && number >= 0) value = number;
}

Options read_defaults() {
  Options options;
  read_default("mem_default", options.receive_buffer);
  read_default("wmem_default", options.send_buffer);
  read_default("sqsize_default", options.send_queue);
  read_default("rqsize_default", options.receive_queue);
  read_default("inline_default", options.inline_size);
  read_default("iomap_size", options.mappings);
  int polling_time = static_cast<int>(options.polling_time.count());
  read_default("polling_time", polling_time);
  options.polling_time = std::chrono::microseconds(polling_time);
  return options;
}

bool is_switch(int level, int name) {
  return (level == SOL_SOCKET && (name == SO_REUSEADDR || name == SO_REUSEPORT ||
                                  name == SO_KEEPALIVE || name == SO_OOBINLINE)) ||
         (level == IPPROTO_TCP && name == TCP_NODELAY) || level == IPPROTO_IPV6;
}

template <typename T>
int take_option(T& into, const void* value, socklen_t length) {
  if (length < sizeof(T)) return EINVAL;
  std::memcpy(&into, value, sizeof(T));
  return 0;
}

}  // namespace

const Options& Options::defaults() {
  static const Options options = read_defaults();
  return options;
}

Sizes Options::sizes() const {
  return {.send_queue = within(kLeastQueue, send_queue, kMostQueue),
          .receive_queue = within(kLeastQueue, receive_queue, kMostQueue),
          .send_buffer = within(kLeastBuffer, send_buffer, kMostBuffer),
          .receive_buffer = within(kLeastBuffer, receive_buffer, kMostBuffer)};
}

int* Options::number(int level, int name) {
  const struct {
    int level, name;
    int* value;
  } table[] = {
      {SOL_SOCKET, SO_RCVBUF, &receive_buffer},     {SOL_SOCKET, SO_SNDBUF, &send_buffer},
      {SOL_SOCKET, SO_REUSEADDR, &reuse_address},   {SOL_SOCKET, SO_REUSEPORT, &reuse_port},
      {SOL_SOCKET, SO_KEEPALIVE, &keep_alive},      {SOL_SOCKET, SO_OOBINLINE, &out_of_band_inline},
      {IPPROTO_TCP, TCP_NODELAY, &no_delay},        {IPPROTO_TCP, TCP_KEEPIDLE, &keep_idle},
      {IPPROTO_TCP, TCP_KEEPINTVL, &keep_interval}, {IPPROTO_TCP, TCP_KEEPCNT, &keep_count},
      {IPPROTO_IPV6, IPV6_V6ONLY, &only_v6},        {SOL_RDMA, RDMA_SQSIZE, &send_queue},
      {SOL_RDMA, RDMA_RQSIZE, &receive_queue},      {SOL_RDMA, RDMA_INLINE, &inline_size},
      {SOL_RDMA, RDMA_IOMAPSIZE, &mappings},
  };
  for (const auto& each : table) {
    if (each.level == level && each.name == name) return each.value;
  }
  return nullptr;
}

int Options::set(int level, int name, const void* value, socklen_t length) {
  if (level == SOL_SOCKET && name == SO_LINGER) return take_option(linger_time, value, length);
  if (level == SOL_SOCKET && name == SO_RCVTIMEO)
    return take_option(receive_timeout, value, length);
  if (level == SOL_SOCKET && name == SO_SNDTIMEO) return take_option(send_timeout, value, length);
  int* const target = number(level, name);
  if (target == nullptr) return ENOPROTOOPT;
  int given = 0;
  if (const int error = take_option(given, value, length); error != 0) return error;
  if (given < 0) return EINVAL;
  *target = is_switch(level, name) ? (given != 0 ? 1 : 0) : given;
  return 0;
}

int Options::get(int level, int name, void* value, socklen_t* length) const {
  if (level == SOL_SOCKET && name == SO_LINGER)
    return give_option(&linger_time, sizeof linger_time, value, length);
  if (level == SOL_SOCKET && name == SO_RCVTIMEO)
    return give_option(&receive_timeout, sizeof receive_timeout, value, length);
  if (level == SOL_SOCKET && name == SO_SNDTIMEO)
    return give_option(&send_timeout, sizeof send_timeout, value, length);
  Options copy = *this;
  const int* const number_found = copy.number(level, name);
  return number_found == nullptr ? ENOPROTOOPT
                                 : give_option(number_found, sizeof *number_found, value, length);
}

int give_option(const void* from, std::size_t size, void* value, socklen_t* length) {
  const auto given = std::min<std::size_t>(size, *length);
  std::memcpy(value, from, given);
  *length = static_cast<socklen_t>(given);
  return 0;
}

}  // namespace iwarp::rsocket
