#pragma once

#include <memory>

#include "iwarp/process/forks.hpp"
#include "iwarp/provider/inherited.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/queues/attached.hpp"
#include "soft/queues/completion_ring.hpp"
#include "soft/queues/cq_events.hpp"
#include "soft/services.hpp"

namespace iwarp::verbs::soft {

/// A completion queue, and what the threads do that poll it. A poll that finds less than it asked
/// for drives the connections attached here, and so does one in a few of those that find as many as
/// they asked for, several. Both kinds count as signs (PollSigns), and so does each time that a
/// sleep is interrupted: an engine leaves sockets to the pollers of a queue whose count moves.
/// While the queue is armed, or its event waits for the program, the polls of one that sleeps on
/// events leave them to the engine. A thread that sleeps until there is an event borrows the socket
/// of the queue's connection, if it has only one.
class SoftCq final : public provider::Cq {
 public:
  SoftCq(std::shared_ptr<const Services> services, std::uint32_t depth, std::uint32_t number);

  std::size_t poll(std::span<Completion> into) override;
  void arm(provider::Arm what) override;
  bool wait(std::chrono::milliseconds timeout) override;
  [[nodiscard]] int event_descriptor() override;
  bool take_event() override;
  [[nodiscard]] std::uint32_t capacity() const override;
  Outcome<void> resize(std::uint32_t depth) override;
  [[nodiscard]] std::uint32_t number() const override { return number_; }
  [[nodiscard]] int wait_descriptor() override;
  bool begin_wait() override;
  void end_wait() override;
  bool begin_event_wait() override;
  void drive_for_event() override;
  void end_event_wait() override;

  /// The most that a completion queue holds.
  static constexpr std::uint32_t kMaxDepth = 1U << 22U;

  /// Adds the completions of requests, each of which has a place among `places` that is given back
  /// when its completion is polled. False if the queue is full: it has overrun, and takes nothing
  /// any more.
  bool push(std::span<const Completion> completions, PlaceOwner& places);
  /// The same of one.
  bool push(const Completion& completion, PlaceOwner& places) {
    return push({&completion, 1}, places);
  }
  /// Takes out what has come for a queue pair that is destroyed: a program may have freed what its
  /// completions name, and their places are about to go.
  void discard(std::uint32_t qp_number) { ring_.discard(qp_number); }
  /// The connections behind it.
  [[nodiscard]] Attached& attached() { return attached_; }
  /// What it shows of its pollers.
  [[nodiscard]] const PollSigns& signs() const { return signs_; }
  /// Whether it is of the process that this one was forked from.
  [[nodiscard]] bool inherited() const { return origin_.inherited(); }
  /// Whether it was made with these: of the same device.
  [[nodiscard]] bool works_with(const Services& services) const {
    return services_.get() == &services;
  }

 private:
  void poll_in_full();
  [[nodiscard]] bool leaves_to_engine();
  void raise_event();

  const std::shared_ptr<const Services> services_;
  const std::uint32_t number_;
  const process::Origin origin_;
  PollSigns signs_;
  CompletionRing ring_;
  Attached attached_{signs_};
  CqEvents events_;
};

}  // namespace iwarp::verbs::soft
