#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <concepts>
#include <memory>
#include <string>

#include "iwarp/asio/error.hpp"
#include "iwarp/base/export.hpp"
#include "iwarp/verbs/verbs.hpp"

namespace iwarp::asio {

class device;

namespace detail {
class awaited_core;
class device_core;
class domain_core;
class pool_core;
IWARP_API std::shared_ptr<awaited_core> make_awaited(device& on);
}  // namespace detail

/// Asio's.
using boost::asio::any_io_executor;

/// An RDMA device that reports to an execution context. One per io_context is the rule; a program
/// that runs an io_context per thread opens one for each. What is made from it keeps it running, so
/// it may be destroyed first. Member functions may be called from any thread.
///
/// The device watches for completions on its executor, and only while operations are under way;
/// each handler is submitted to the executor associated with it. No other thread runs handlers.
/// What a handler throws leaves its context's run(). An executor that throws instead of taking a
/// handler ends the program, as no handler is left to tell.
///
/// In a forked child it is of no use, see verbs::Device: what is started on it, or on anything made
/// from it, ends with ENODEV, and so does what is under way if the program tells the execution
/// context of the fork, by all three events of notify_fork(); the context can then run in the
/// child, with a device of its own. A child that does not tell it must not run it, but may destroy
/// it and everything else: nothing of the parent's ends by that, and the handlers of what is under
/// way are neither called nor destroyed.
class IWARP_API device {
 public:
  /// Opens the device of that name as verbs::Device::open() does: "soft", "soft:INTERFACE"; the
  /// empty name is what the environment variable IWARP_DEVICE says, and without it "soft".
  /// `executor` belongs to an io_context, or to another context that has a reactor. Throws
  /// boost::system::system_error.
  explicit device(any_io_executor executor, const std::string& name = {});
  /// The same for a device that is open already: a provider of the program's own, or one that it
  /// shares with verbs code.
  device(any_io_executor executor, verbs::Device opened);
  /// The same on an execution context's executor.
  template <typename Context>
    requires std::derived_from<Context, boost::asio::execution_context>
  explicit device(Context& context, const std::string& name = {})
      : device(any_io_executor(context.get_executor()), name) {}
  ~device();
  device(device&&) noexcept;
  device& operator=(device&&) noexcept;

  using executor_type = any_io_executor;  ///< As Asio asks for it.
  /// Where it watches for completions.
  [[nodiscard]] executor_type get_executor() const;
  /// What it can do.
  [[nodiscard]] const verbs::DeviceAttributes& attributes() const;

  /// Looks for completions once, driving the sockets, without waiting; returns how many operations
  /// ended. Their handlers have been submitted, none has run in here.
  std::size_t poll();
  /// The same again and again, until there is one or the time is over: for latency, at the price of
  /// a processor. While it is called every millisecond or more often the device does not sleep.
  std::size_t poll_for(std::chrono::nanoseconds duration);

  /// The verbs object, for what has no counterpart here.
  [[nodiscard]] verbs::Device& native_handle();

 private:
  friend class domain;
  friend class acceptor;
  friend std::shared_ptr<detail::awaited_core> detail::make_awaited(device& on);
  std::shared_ptr<detail::device_core> core_;
};

/// A protection domain: memory and connections that may be used together. Peers that do not trust
/// each other get one each (RFC 5042 §6). What is made from it keeps it, so it may be destroyed
/// first.
class IWARP_API domain {
 public:
  /// Throws boost::system::system_error.
  explicit domain(device& of);
  ~domain();
  domain(domain&&) noexcept;
  domain& operator=(domain&&) noexcept;

  /// What memory of this domain must permit that async_read() writes to:
  /// access_rights::kLocalWrite, with most adapters kRemoteWrite as well, see
  /// verbs::DeviceAttributes::read_sink.
  [[nodiscard]] verbs::Access read_sink() const;

  /// The device's.
  using executor_type = any_io_executor;
  /// The device's.
  [[nodiscard]] executor_type get_executor() const;
  /// The verbs object, for what has no counterpart here.
  [[nodiscard]] verbs::ProtectionDomain& native_handle();

 private:
  friend class registered_memory;
  friend class memory_window;
  friend class message_pool;
  friend class connection;
  friend class detail::pool_core;
  std::shared_ptr<detail::domain_core> core_;
};

}  // namespace iwarp::asio
