#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

#include "adapter_event.hpp"
#include "hidden_descriptor.hpp"
#include "host.hpp"
#include "native_object.hpp"
#include "work_ring.hpp"

namespace iwarp::rnic {

/// A completion queue of the adapter. Its numbers become the program's again here. Any thread.
class CompletionQueue final : public verbs::provider::Cq {
 public:
  static verbs::Outcome<std::shared_ptr<CompletionQueue>> make(std::shared_ptr<Host> host,
                                                               std::uint32_t depth);
  ~CompletionQueue() override;

  // provider::Cq
  std::size_t poll(std::span<verbs::Completion> into) override;
  void arm(verbs::provider::Arm what) override;
  bool wait(std::chrono::milliseconds timeout) override;
  [[nodiscard]] int event_descriptor() override { return origin_.refuses() ? -1 : events_.get(); }
  bool take_event() override;
  bool begin_wait() override;
  void end_wait() override;
  [[nodiscard]] std::uint32_t capacity() const override;
  [[nodiscard]] std::uint32_t number() const override { return label_->number; }
  verbs::Outcome<void> resize(std::uint32_t depth) override;

  [[nodiscard]] ibv_cq* native() const { return cq_.get(); }
  [[nodiscard]] const std::shared_ptr<Host>& host() const { return host_; }
  /// Takes over what the adapter has completed, for the next poll, so that what is done counts as
  /// done.
  void gather();
  /// As WorkRing::discard().
  void discard(WorkRing& ring);
  /// Around the end of a queue pair in the adapter: what it had completed and no poll has taken is
  /// not told, and nothing in the adapter's queue names a slot of it any more.
  void leave(std::uint32_t qp_number);
  /// Behind the end of a connection, of which the adapter tells no more: what was posted to `ring`
  /// and has no completion has been flushed. No post may be under way.
  void give_up(WorkRing& ring, std::uint32_t qp_number);
  /// Completes a request of a queue pair that is over, which the adapter does not get, as flushed.
  /// False if the queue is full, or there is no memory.
  bool flush(std::uint64_t wr_id, std::uint32_t qp_number);
  /// Reserves places for completions of silent requests of which the adapter has to tell
  /// (PostLimits::max_silent): the program's depth does not count them. How many of `wanted` there
  /// are. A place is free again when its completion has been taken; see WorkRing.
  std::uint32_t reserve(std::uint32_t wanted);
  /// Gives back places that were not used.
  void give_back(std::uint32_t places) { swallowed_.fetch_sub(places); }
  [[nodiscard]] std::atomic<std::uint32_t>* swallowed() { return &swallowed_; }
  /// As WorkRing::take_back().
  void take_back(WorkRing& ring, std::uint32_t count);

 private:
  /// Where events show: those of the adapter, and those of completions that it does not make.
  struct Events {
    process::Descriptor set;  ///< Readable if either is.
    HiddenDescriptor own;
  };
  static Events make_events(int of_adapter);
  CompletionQueue(std::shared_ptr<Host> host, std::unique_ptr<EventLabel> label,
                  NativeChannel channel, NativeCq cq, Events events, std::uint32_t depth);
  [[nodiscard]] const Adapter& adapter() const { return *host_->adapter(); }
  void raise_own();
  std::size_t take_gathered(std::span<verbs::Completion> into);
  std::size_t poll_adapter(std::span<verbs::Completion> into);
  void gather_locked();
  void gather_what_fits();
  bool has_any();
  void sleep(std::chrono::milliseconds most);

  const std::shared_ptr<Host> host_;
  const std::unique_ptr<const EventLabel> label_;
  NativeChannel channel_;
  NativeCq cq_;                       // goes before it
  const process::Descriptor events_;  // which programs are shown
  const HiddenDescriptor own_event_;
  process::ClosedInChildren channel_in_children_;
  const process::Origin origin_;
  std::atomic<bool> armed_{false};    // since the last event
  std::atomic<bool> raised_{false};   // own_event_
  std::atomic<unsigned> waiting_{0};  // between begin_wait() and end_wait()
  std::mutex mutex_;
  std::deque<verbs::Completion> gathered_;
  std::atomic<std::uint32_t> depth_;
  std::atomic<std::uint32_t> swallowed_{0};
};

}  // namespace iwarp::rnic
