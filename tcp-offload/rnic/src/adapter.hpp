#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "iwarp/verbs/provider.hpp"
#include "rdma_core.hpp"

namespace iwarp::rnic {

/// An adapter that has been opened, by librdmacm: connections belong to the contexts that it opens.
/// Any thread.
class Adapter {
 public:
  /// Errors as of open_adapter().
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

  /// For a queue: as its context in the adapter, by which number_of() finds it again.
  [[nodiscard]] std::uint32_t next_number() { return next_number_.fetch_add(1); }
  static void* as_context(std::uint32_t number) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));
  }
  static std::uint32_t number_of(const void* context) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(context));
  }

  /// "siw0: `what`", and what the system said, for a call that has just failed.
  [[nodiscard]] verbs::Error error(const std::string& what, int system_error) const;

 private:
  Adapter(const RdmaCore& with, ibv_context** opened, ibv_context* which,
          const ibv_device_attr& can);

  static constexpr std::uint32_t kSiwVendor = 0x626d74;  // "bmt"

  ibv_context** const opened_;
  std::atomic<std::uint32_t> next_number_{1};
};

/// The most private data of an MPA frame: librdmacm counts it in eight bits, and siw the four
/// octets of revision 2 with it.
inline constexpr std::size_t kMostPrivateData = 251;

/// How many Reads can be asked for of those that an adapter's limit allows: librdmacm counts them
/// in eight bits.
std::uint32_t most_reads(int limit);

/// The adapters of transport iWARP, by rdma-core's names. Any thread.
std::vector<std::string> iwarp_adapters(const RdmaCore& core);

/// What programs are told that it can do. Tries, by making a queue pair, how much goes inline.
verbs::DeviceAttributes attributes_of(const Adapter& adapter);

}  // namespace iwarp::rnic
