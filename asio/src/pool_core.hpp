#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "domain_core.hpp"
#include "iwarp/asio/memory.hpp"
#include "iwarp/asio/message_pool.hpp"

namespace iwarp::asio::detail {

/// One buffer of a pool, and what was received into it.
class message_slot {
 public:
  std::uint32_t number = 0;
  local_buffer buffer;
  std::size_t size = 0;  // octets in the buffer
  std::size_t written = 0;
  std::optional<std::uint64_t> immediate;
  std::optional<Stag> invalidated;
};

/// A shared receive queue with its buffers. Each buffer is posted, or in a message.
class pool_core : public std::enable_shared_from_this<pool_core> {
 public:
  pool_core(domain& in, const message_pool_options& options);
  ~pool_core();
  pool_core(const pool_core&) = delete;
  pool_core& operator=(const pool_core&) = delete;
  /// The other half of the constructor: posts all.
  void attach();

  [[nodiscard]] const std::shared_ptr<domain_core>& domain_of() const { return domain_; }
  [[nodiscard]] const verbs::SharedReceiveQueue& queue() const { return queue_; }
  [[nodiscard]] std::size_t available() const { return posted_.load(); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(slots_.size()); }

  /// A receive has ended: its message goes to the connection that it came over.
  void on_completion(std::uint32_t slot, const verbs::Completion& completion);
  /// Posts the buffer anew.
  void give_back(message_slot& slot);

 private:
  void post(message_slot& slot);

  std::shared_ptr<domain_core> domain_;
  registered_buffer memory_;
  verbs::SharedReceiveQueue queue_;
  std::vector<message_slot> slots_;
  std::optional<std::uint32_t> number_;
  std::atomic<std::size_t> posted_{0};
};

}  // namespace iwarp::asio::detail
