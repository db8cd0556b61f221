#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "adapter_event.hpp"
#include "host.hpp"
#include "memory.hpp"
#include "receive_queue.hpp"
#include "send_queue.hpp"
#include "shared_receive_queue.hpp"

namespace iwarp::rnic {

/// The queue pair in the adapter, with its two queues. Any thread.
class NativeQp {
 public:
  struct Init {
    std::shared_ptr<Host> host;
    std::shared_ptr<ProtectionDomain> pd;
    std::shared_ptr<CompletionQueue> send_cq, recv_cq;
    std::shared_ptr<SharedReceiveQueue> srq;
    verbs::QpCapacity capacity;
    verbs::Signaling signaling = verbs::Signaling::kPerRequest;
    PostLimits limits;
  };
  /// In a state in which receives may be posted. Errors: the system's.
  static verbs::Outcome<std::shared_ptr<NativeQp>> make(Init init);
  ~NativeQp() { destroy(); }
  NativeQp(const NativeQp&) = delete;
  NativeQp& operator=(const NativeQp&) = delete;

  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] const verbs::QpCapacity& capacity() const { return init_.capacity; }
  [[nodiscard]] bool shares_receives() const { return init_.srq != nullptr; }
  [[nodiscard]] SendQueue& sends() { return *sends_; }
  [[nodiscard]] const SendQueue& sends() const { return *sends_; }
  /// Precondition: shares_receives() is false.
  [[nodiscard]] ReceiveQueue& receives() { return *receives_; }

  /// What the peer may do through it.
  void allow_peer(verbs::Access rights);
  /// As SendQueue::finish(); true once it has been destroyed.
  bool finish_sends();
  /// Has the adapter flush what is posted.
  void flush();
  /// Whether the adapter has told of all of it.
  bool is_flushed();
  /// Behind flush(): the adapter tells no more.
  void give_up();
  /// Nothing of what was posted is told any more.
  void discard();
  /// The adapter touches no memory on its behalf when this returns, and what was posted is flushed
  /// without completions. Again: no effect.
  void destroy();

 private:
  explicit NativeQp(Init init) : init_(std::move(init)), label_{init_.host} {}
  verbs::Outcome<void> create();
  void leave_queues();
  int modify(ibv_qp_attr attributes, int which);
  [[nodiscard]] const RdmaCore& core() const { return init_.host->adapter()->core; }

  const Init init_;
  EventLabel label_;
  const process::Origin origin_;
  std::mutex mutex_;
  ibv_qp* qp_ = nullptr;
  std::uint32_t number_ = 0;
  std::optional<SendQueue> sends_;
  std::optional<ReceiveQueue> receives_;
};

}  // namespace iwarp::rnic
