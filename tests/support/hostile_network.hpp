#pragma once

#include <chrono>

#include "iwarp/sim/network.hpp"

namespace iwarp::test {

/// Small buffers, segments in pieces, and a device that sends from the program's own memory.
inline tcp_offload::SimOptions hostile_network() {
  using std::chrono_literals::operator""us;
  tcp_offload::SimOptions options;
  options.send_buffer = 4096;
  options.receive_buffer = 3000;
  options.jitter = 50us;
  options.segment = {1, 700};
  options.lend = {1, 900};
  options.accept = {1, 1500};
  options.memory = tcp_offload::SimMemory::kReferenced;
  options.release_lag = 100us;
  return options;
}

}  // namespace iwarp::test
