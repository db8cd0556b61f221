#pragma once

#include "perf/rdma/link.hpp"

namespace iwarp::cli::perf {

/// The server's side of the measured loops over iWARP.
class Responder {
 public:
  /// Allocates and registers the memory of the proposal's workload, and posts `receives` for it.
  /// Throws a CommandError or std::bad_alloc. `link` is connected and outlives this.
  Responder(Link& link, const Proposal& proposal, std::uint32_t receives);

  /// The memory for the client's Writes and Reads.
  [[nodiscard]] verbs::RemoteBuffer target() const { return target_region_.remote(); }
  /// Sends that the client may have under way.
  [[nodiscard]] std::uint32_t window() const { return window_; }

  /// Receives that a queue pair has for a client that measures at `depth`: several times as many,
  /// or what the device has room for, beside `sends` in one completion queue.
  static std::uint32_t receives_for(std::uint32_t depth, std::uint32_t sends,
                                    const verbs::DeviceAttributes& device);

  /// Puts memory and receives in their first state; before the client hears Go.
  void reset();
  /// Takes part until the client's Stop; returns the messages seen.
  std::uint64_t run();

 private:
  void handle(const verbs::Completion& completion);
  void on_message();
  void watch_memory();

  Link& link_;
  Workload workload_;
  Places places_;
  Buffer source_, target_;
  verbs::MemoryRegion source_region_, target_region_;
  std::uint32_t window_;
  SendRing answers_;
  std::uint64_t messages_ = 0;  // of this run
  std::uint8_t sequence_ = 0;   // last octet of the last Write that was watched
  bool answer_accepted_ = true;
  bool stopped_ = false;
};

}  // namespace iwarp::cli::perf
