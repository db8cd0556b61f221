#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "iwarp/process/forks.hpp"
#include "iwarp/verbs/provider.hpp"
#include "rdma_core.hpp"

namespace iwarp::rnic {

/// An adapter that has been opened, by librdmacm: connections belong to the contexts that it opens.
/// librdmacm has one context for all that a process opens of an adapter. Any thread.
class Adapter : public std::enable_shared_from_this<Adapter> {
 public:
  /// The one of that name that there is, or a new one. Errors as of open_adapter().
  static verbs::Outcome<std::shared_ptr<Adapter>> open(const RdmaCore& core,
                                                       const std::string& name);
  ~Adapter();
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  const RdmaCore& core;
  ibv_context* const context;
  const std::string name;  ///< As rdma-core has it.
  const ibv_device_attr limits;

  /// Whether it is Linux siw, which does a few things in its own way.
  [[nodiscard]] bool is_siw() const { return limits.vendor_id == kSiwVendor; }

  /// For a queue.
  [[nodiscard]] std::uint32_t next_number() { return next_number_.fetch_add(1); }

  /// From now on nothing is made of it any more.
  void lose() { lost_ = true; }
  [[nodiscard]] bool is_lost() const { return lost_.load(); }
  /// Errors: ENODEV once it is lost.
  [[nodiscard]] verbs::Outcome<void> check() const;

  /// "siw0: `what`", and what the system said, for a call that has just failed.
  [[nodiscard]] verbs::Error error(const std::string& what, int system_error) const;

 private:
  struct FreeContexts {
    const RdmaCore* core;
    void operator()(ibv_context** list) const { core->rdma_free_devices(list); }
  };
  /// What librdmacm has opened: it stays open as long as there is such a list.
  using Contexts = std::unique_ptr<ibv_context*, FreeContexts>;

  static constexpr std::uint32_t kSiwVendor = 0x626d74;  // "bmt"

  Adapter(const RdmaCore& with, Contexts opened, ibv_context* which, const ibv_device_attr& can);
  static verbs::Outcome<std::shared_ptr<Adapter>> find_or_open(const RdmaCore& core,
                                                               const std::string& name);
  static verbs::Outcome<std::unique_ptr<Adapter>> open_anew(const RdmaCore& core,
                                                            const std::string& name,
                                                            const Adapter* lost);

  Contexts opened_;
  process::ClosedInChildren commands_in_children_, events_in_children_;
  std::atomic<std::uint32_t> next_number_{1};
  std::atomic<bool> lost_{false};
};

/// An iWARP adapter's port: there is one.
inline constexpr std::uint8_t kPort = 1;

/// How often librdmacm is asked for another port where a TCP socket has the one that it has drawn.
inline constexpr unsigned kDraws = 10;

/// The most private data of an MPA frame: librdmacm counts it in eight bits, and siw the four
/// octets of revision 2 with it.
inline constexpr std::size_t kMostPrivateData = 251;

/// How many Reads can be asked for of those that an adapter's limit allows: librdmacm counts them
/// in eight bits.
std::uint32_t most_reads(int limit);

/// Why rdma-core could not use a file in /dev/infiniband, such as "rdma_cm": it says that there is
/// none (ENOENT) where the right to it is missing, too.
int why_not_used(const char* device_file, int system_error);

/// The adapters of transport iWARP, by rdma-core's names. Any thread.
std::vector<std::string> iwarp_adapters(const RdmaCore& core);

/// What programs are told that it can do. Tries, by making a queue pair, how much goes inline.
verbs::DeviceAttributes attributes_of(const Adapter& adapter);

}  // namespace iwarp::rnic
