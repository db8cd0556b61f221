#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "adapter.hpp"
#include "bound_memory.hpp"
#include "cm_loop.hpp"
#include "iwarp/provider/async_events.hpp"

namespace iwarp::rnic {

/// Is told what the adapter says of a queue pair besides completions.
class QpEventTarget {
 public:
  virtual ~QpEventTarget() = default;
  /// A sentence, for the diagnosis. On the loop's thread.
  virtual void on_qp_event(const std::string& what) = 0;
  /// The adapter is lost. A sentence, and the loop's thread, likewise.
  virtual void on_adapter_lost(const std::string& what) = 0;
};

/// What everything that is made from one Device works with. Devices of one adapter share the
/// adapter and its loop. Any thread.
class Host : public std::enable_shared_from_this<Host> {
 public:
  /// Errors as of open_adapter().
  static verbs::Outcome<std::shared_ptr<Host>> open(const std::string& adapter_name);

  [[nodiscard]] const std::shared_ptr<Adapter>& adapter() const { return adapter_; }
  [[nodiscard]] const std::shared_ptr<BoundMemory>& bound() const { return bound_; }
  [[nodiscard]] CmLoop& loop() const { return *loop_; }
  [[nodiscard]] verbs::AsyncEvents& events() { return events_; }

  void add(std::uint32_t qp_number, std::weak_ptr<QpEventTarget> target);
  void remove(std::uint32_t qp_number);
  void tell_queue_pair(std::uint32_t number, const std::string& what);
  /// Tells the program that the adapter is lost, once, and all queue pairs. A sentence.
  void on_adapter_lost(const std::string& what);

 private:
  Host(std::shared_ptr<Adapter> adapter, std::shared_ptr<CmLoop> loop)
      : adapter_(std::move(adapter)), loop_(std::move(loop)) {}

  const std::shared_ptr<Adapter> adapter_;
  const std::shared_ptr<BoundMemory> bound_ = std::make_shared<BoundMemory>();
  verbs::AsyncEvents events_;
  std::atomic<bool> heard_of_loss_{false};
  std::mutex mutex_;
  std::map<std::uint32_t, std::weak_ptr<QpEventTarget>> queue_pairs_;
  const std::shared_ptr<CmLoop> loop_;
};

/// The adapter has failed, or was removed: all that this process has of it hears of that. Again: no
/// effect. On the loop's thread.
void lose_adapter(Adapter& adapter, const std::string& what);

/// All that this process has of an adapter.
std::vector<std::shared_ptr<Host>> hosts_of(const Adapter& adapter);

}  // namespace iwarp::rnic
