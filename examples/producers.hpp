#pragma once

// The consumer, and what it and the producers have to know of each other.
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <iwarp/verbs/verbs.hpp>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "verbs_program.hpp"

namespace examples {

using namespace iwarp::verbs;
using namespace std::chrono_literals;

// ---- Between the two ----

using record = std::array<std::uint64_t, 128>;  // each word is the record's number

constexpr std::uint32_t kSlots = 16;          // of a ring, one for each record under way
constexpr std::uint32_t kBatch = kSlots / 2;  // so many slots go back at a time

// What an immediate says. To the consumer: the number of the record that has come, or with kLast
// how many there were. To a producer: how many have been consumed, and kLast behind the last.
constexpr std::uint64_t kLast = std::uint64_t{1} << 63U;

// So many messages are under way at most: one more would find no receive (RFC 5041 §7.1).
constexpr std::uint32_t kToConsumer = kSlots + 1;
constexpr std::uint32_t kToProducer = kSlots / kBatch + 1;

// The places of the send queues. A place is free when this side's device has seen its message off,
// and the answer may be here before that: so the messages that it answers count twice.
constexpr std::uint32_t kSendsOfProducer = 2 * kToConsumer, kSendsOfConsumer = 2 * kToProducer;

constexpr std::uint32_t kMostProducers = 64;  // at a time
constexpr std::uint32_t kReceives = kMostProducers * kToConsumer;
constexpr std::uint32_t kCompletions = kReceives + kMostProducers * kSendsOfConsumer;
constexpr std::uint64_t kSend = kReceives;  // a wr_id; below are those of receives, each its own

// A request without a completion, unless it fails.
inline SendWr silent(Opcode opcode, std::uint64_t immediate) {
  return {.wr_id = kSend, .opcode = opcode, .flags = SendFlags::kNone, .immediate = immediate};
}

// ---- The consumer ----

// One producer, as the consumer has it. Destroyed from the last member to the first.
struct session {
  std::vector<record> ring;
  MemoryRegion region;
  QueuePair qp;
  std::uint64_t consumed = 0, returned = 0;  // records, slots
  bool complete = false;
  const char* fault = nullptr;  // what the producer was cut off for

  void take(const Completion& done) {
    if (fault != nullptr) return;
    if (const char* wrong = fault_of(done)) return cut_off(wrong);
    complete = (done.immediate & kLast) != 0;
    if (!complete && ++consumed - returned < kBatch) return;
    returned = consumed;
    const auto told = silent(Opcode::kImmediate, complete ? done.immediate : consumed);
    if (!qp.post_send(told)) cut_off("it takes no slots back");
  }
  void cut_off(const char* why) {
    fault = why;
    qp.abort();
  }

  [[nodiscard]] const char* fault_of(const Completion& done) const {
    if (complete) return "a message behind its last one";
    if (!has(done.flags, CompletionFlags::kImmediate)) return "a message that says nothing";
    if ((done.immediate & kLast) != 0)
      return done.immediate == (kLast | consumed) ? nullptr : "not as many records as it says";
    if (done.immediate != consumed || done.byte_length != sizeof(record))
      return "not the record that comes next";
    const record& one = ring[consumed % kSlots];
    const bool whole = std::ranges::all_of(one, [this](auto word) { return word == consumed; });
    return whole ? nullptr : "another record than expected";
  }
};

class consumer {
 public:
  consumer(Device& device, const Endpoint& at)
      : pd_(must(device.alloc_pd())),
        cq_(must(device.create_cq(kCompletions))),
        // A share, so that no producer takes the others' receives. Where an adapter knows none they
        // have to be trusted.
        receives_(must(pd_.create_srq(
            {.max_wr = kReceives, .share = device.attributes().srq_share ? kToConsumer : 0}))),
        listener_(must(device.listen(at, {.on_waiting = [wake = wake_] { raise(*wake); }}))) {
    for (std::uint64_t each = 0; each < kReceives; ++each)
      must(receives_.post_receive({.wr_id = each}));
  }

  [[nodiscard]] Endpoint endpoint() const { return listener_.endpoint(); }
  [[nodiscard]] std::uint64_t records() const { return records_; }
  [[nodiscard]] std::uint64_t complete() const { return complete_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

  // Until Ctrl-C, stop(), or the end of so many producers.
  void run(std::uint64_t producers = UINT64_MAX) {
    while (!stopped_ && complete_ + lost_ < producers) {
      const bool idle = take_completions() == 0;
      const bool sleeps = idle && !cq_.begin_wait();  // not if something has come meanwhile
      std::array<pollfd, 3> ready{{{cq_.wait_descriptor(), POLLIN, 0},
                                   {wake_->get(), POLLIN, 0},
                                   {interrupt_.get(), POLLIN, 0}}};
      if (::poll(ready.data(), ready.size(), sleeps ? -1 : 0) < 0 && errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "poll");
      if (idle) cq_.end_wait();
      if (ready[1].revents != 0) look_around();
      if (ready[2].revents != 0) stopped_ = true;
    }
    for (const auto& [number, one] : sessions_) records_ += one.consumed;
    std::cout << records_ << " records; producers: " << complete_ << " ended well, " << lost_
              << " lost, " << sessions_.size() << " at work" << std::endl;
    sessions_.clear();  // which tells those
  }
  void stop() {  // from any thread
    stopped_ = true;
    raise(*wake_);
  }

 private:
  // Of connections that begin or end no completion tells, as the receives are not theirs. The
  // device's threads tell, and wake this one; a handler may still run when its queue pair has gone,
  // and even this object, so it has a share of what it writes to.
  static void raise(const descriptor& wake) { eventfd_write(wake.get(), 1); }
  void look_around() {
    eventfd_t times = 0;
    eventfd_read(wake_->get(), &times);
    while (auto request = listener_.next(0ms)) {
      try {
        accept(*request);
      } catch (const std::runtime_error& error) {
        std::cerr << "a producer was not accepted: " << error.what() << '\n';
      }
    }
    for (auto at = sessions_.begin(); at != sessions_.end();) {
      const auto one = at++;
      if (one->second.qp.wait_disconnected(0ms)) end(one);
    }
  }

  void accept(ConnectionRequest& request) {
    if (sessions_.size() == kMostProducers) throw std::runtime_error("there are too many");
    std::vector<record> ring(kSlots);
    auto region = must(pd_.register_memory(std::as_writable_bytes(std::span(ring)),
                                           Access::kLocalWrite | Access::kRemoteWrite));
    auto qp = must(
        pd_.create_qp(cq_, {.capacity = {.max_send_wr = kSendsOfConsumer},
                            .on_event = [wake = wake_](const ConnectionEvent&) { raise(*wake); },
                            .srq = &receives_}));
    const RemoteBuffer where = region.remote();
    const auto octets = std::as_bytes(std::span(&where, 1));  // both hosts have one byte order
    must(request.start_accept(qp, {.private_data = {octets.begin(), octets.end()}}));
    const std::uint32_t number = qp.number();
    sessions_.emplace(number, session{std::move(ring), std::move(region), std::move(qp)});
    std::cout << "a producer has come" << std::endl;
  }

  void end(std::map<std::uint32_t, session>::iterator at) {
    // Its completions came before its end was told, and would go with the queue pair. They are in
    // what the queue has by now; others bring more and more.
    for (std::size_t taken = 0, count = 1; count != 0 && taken < kCompletions; taken += count)
      count = take_completions();
    const session& one = at->second;
    const bool well = one.complete && one.fault == nullptr;
    ++(well ? complete_ : lost_);
    records_ += one.consumed;
    std::cout << "a producer " << (well ? "ended well: " : "was lost after ") << one.consumed
              << " records";
    if (!well)
      std::cout << ": " << (one.fault != nullptr ? one.fault : one.qp.diagnosis().to_string());
    std::cout << std::endl;
    sessions_.erase(at);
  }

  std::size_t take_completions() {
    std::array<Completion, kToConsumer> done;
    const std::size_t count = cq_.poll(done);
    for (const Completion& one : std::span(done).first(count)) take(one);
    return count;
  }
  void take(const Completion& done) {
    if (done.wr_id == kSend) return;  // it could not leave any more: an end is told
    // Before its slot goes back, so that the next record finds it. Also if its message was cut
    // short.
    must(receives_.post_receive({.wr_id = done.wr_id}));
    if (done.status != Status::kSuccess) return;
    sessions_.at(done.qp_number).take(done);
  }

  std::atomic<bool> stopped_ = false;
  const std::shared_ptr<const descriptor> wake_ =
      std::make_shared<const descriptor>(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const descriptor interrupt_{interrupt_descriptor()};
  ProtectionDomain pd_;
  CompletionQueue cq_;
  SharedReceiveQueue receives_;
  std::map<std::uint32_t, session> sessions_;  // by the queue pair's number
  std::uint64_t records_ = 0, complete_ = 0, lost_ = 0;
  Listener listener_;  // destroyed first: what it calls uses the others
};

}  // namespace examples
