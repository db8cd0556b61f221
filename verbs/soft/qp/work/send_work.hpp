#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "iwarp/rdmap/send_queue.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/qp/init.hpp"
#include "soft/queues/places.hpp"
#include "soft/spin_lock.hpp"

namespace iwarp::verbs::soft {

/// A work request that sends nothing: what to do when its turn comes.
struct LocalWork {
  Opcode opcode = Opcode::kInvalidate;
  Stag invalidate;
  BindWr bind;
  RegisterWr registration;
};

/// What has been posted for sending and is not completed yet. Any thread posts; the transmit half
/// takes from the front.
class SendWork {
 public:
  explicit SendWork(const SoftQpInit& init);

  /// What becomes of what is posted, as the connection stands.
  enum class Admission : std::uint8_t {
    kTaken,
    kRefused,  ///< There is no connection to submit it to.
    kFlushed,  ///< It comes behind the end, and is flushed behind everything else.
  };
  struct Posted {
    std::size_t count = 0;               ///< Requests that were taken.
    std::size_t octets = 0;              ///< Of these.
    std::optional<PostError> refused{};  ///< Which was not, and why.
  };
  Posted post(std::span<const SendWr> requests, Posting posting, Admission admission);

  /// What requests depend on that both ends have agreed on.
  struct Agreed {
    std::uint32_t ord = 0;
    bool rfc7306 = false;
  };
  /// From here on each request is checked against that. Which of those posted before is the first
  /// that does not suit, if there is one.
  [[nodiscard]] std::optional<std::uint32_t> agree(const Agreed& agreed);

  /// Whether there is a request that is not completed.
  [[nodiscard]] bool any() const { return queue_.head() != queue_.tail(); }
  /// Whether there is nothing whatever to complete.
  [[nodiscard]] bool drained() const;
  /// What the connection's core sends from.
  [[nodiscard]] rdmap::SendQueue& queue() { return queue_; }
  /// For completions.
  [[nodiscard]] Places& places() { return places_; }

  // The transmit half:
  /// The oldest request, which is done with: its completion, unless it wants none.
  [[nodiscard]] std::optional<Completion> retire(Status status);
  /// What came behind the end.
  [[nodiscard]] std::vector<Completion> take_late();
  /// Of a request of rdmap::Operation::kLocal.
  [[nodiscard]] const LocalWork& local(std::uint32_t position) const {
    return local_[queue_.place(position)];
  }

 private:
  struct Described;
  [[nodiscard]] std::optional<PostError> check(const Described& request, Admission admission) const
      IWARP_REQUIRES(lock_);
  [[nodiscard]] std::optional<PostError> check_all(std::span<const SendWr> requests,
                                                   Admission admission) const IWARP_REQUIRES(lock_);
  [[nodiscard]] std::optional<PostError> check_agreed(rdmap::Operation operation) const
      IWARP_REQUIRES(lock_);
  void append(const Described& request) IWARP_REQUIRES(lock_);
  void append_local(const SendWr& request) IWARP_REQUIRES(lock_);
  void append_late(const Described& request) IWARP_REQUIRES(lock_);

  [[nodiscard]] CompletionOpcode completion_opcode(std::uint32_t position) const;

  const QpCapacity capacity_;
  const bool reports_all_;
  const std::uint32_t qp_number_;
  rdmap::SendQueue queue_;
  Places places_;

  mutable SpinLock lock_;
  std::optional<Agreed> agreed_ IWARP_GUARDED_BY(lock_);
  std::vector<Completion> late_ IWARP_GUARDED_BY(lock_);
  std::unique_ptr<LocalWork[]> local_;  // by place in the queue; made at the first one
};

}  // namespace iwarp::verbs::soft
