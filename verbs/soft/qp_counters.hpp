#pragma once

#include <atomic>
#include <cstdint>

#include "iwarp/connection/inbound.hpp"
#include "iwarp/connection/outbound.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::verbs::soft {

/// A number that one thread at a time sets and any thread reads.
class PublishedNumber {
 public:
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// What the halves of a connection have counted, for any thread to see. Each half publishes its own
/// before a completion tells the program of what is counted.
class PublishedCounters {
 public:
  void publish(const connection::InboundCounters& in) {
    octets_received.set(in.octets);
    fpdus_received_.set(in.fpdus);
    receives_.set(in.receives);
    peer_writes_.set(in.peer_writes);
    peer_reads_.set(in.peer_reads);
    peer_atomics_.set(in.peer_atomics);
  }
  void publish(const connection::OutboundCounters& out) {
    octets_sent.set(out.octets);
    fpdus_sent_.set(out.fpdus);
    sends_.set(out.sends);
    writes_.set(out.writes);
    reads_.set(out.reads);
    immediates_.set(out.immediates);
    atomics_.set(out.atomics);
  }
  [[nodiscard]] QpCounters all() const {
    QpCounters counters;
    counters.sends = sends_.value();
    counters.writes = writes_.value();
    counters.reads = reads_.value();
    counters.receives = receives_.value();
    counters.immediates = immediates_.value();
    counters.atomics = atomics_.value();
    counters.peer_writes = peer_writes_.value();
    counters.peer_reads = peer_reads_.value();
    counters.peer_atomics = peer_atomics_.value();
    counters.octets_sent = octets_sent.value();
    counters.octets_received = octets_received.value();
    counters.fpdus_sent = fpdus_sent_.value();
    counters.fpdus_received = fpdus_received_.value();
    return counters;
  }

  PublishedNumber octets_received, octets_sent;

 private:
  PublishedNumber fpdus_received_, receives_, peer_writes_, peer_reads_, peer_atomics_;
  PublishedNumber fpdus_sent_, sends_, writes_, reads_, immediates_, atomics_;
};

}  // namespace iwarp::verbs::soft
