#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "adapter.hpp"
#include "bound_memory.hpp"
#include "cm_loop.hpp"
#include "iwarp/provider/async_events.hpp"

namespace iwarp::rnic {

/// Is told what the adapter says of a queue pair besides completions.
class QpEventTarget {
 public:
  virtual ~QpEventTarget() = default;
  /// A sentence, for the diagnosis. On the loop's thread, inside of which no queue pair may be
  /// destroyed.
  virtual void on_qp_event(const std::string& what) = 0;
};

/// What everything that is made from one opened adapter works with. Any thread.
class Host {
 public:
  /// Errors as of open_adapter().
  static verbs::Outcome<std::shared_ptr<Host>> open(const std::string& adapter_name);

  [[nodiscard]] const std::shared_ptr<Adapter>& adapter() const { return adapter_; }
  [[nodiscard]] const std::shared_ptr<BoundMemory>& bound() const { return bound_; }
  [[nodiscard]] CmLoop& loop() const { return *loop_; }
  [[nodiscard]] verbs::AsyncEvents& events() { return events_; }

  void add(std::uint32_t qp_number, std::weak_ptr<QpEventTarget> target);
  void remove(std::uint32_t qp_number);

 private:
  explicit Host(std::shared_ptr<Adapter> adapter) : adapter_(std::move(adapter)) {}
  void on_async_event(const ibv_async_event& event);
  void tell_queue_pair(std::uint32_t number, const std::string& what);

  const std::shared_ptr<Adapter> adapter_;
  const std::shared_ptr<BoundMemory> bound_ = std::make_shared<BoundMemory>();
  verbs::AsyncEvents events_;
  std::mutex mutex_;
  std::map<std::uint32_t, std::weak_ptr<QpEventTarget>> queue_pairs_;
  std::shared_ptr<CmLoop> loop_;
};

}  // namespace iwarp::rnic
