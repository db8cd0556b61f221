#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "iwarp/asio/buffer.hpp"
#include "iwarp/asio/error.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::asio::detail {

/// What is wrong with a request, as an error and in a sentence without an end.
struct complaint {
  errc code{};
  std::string sentence;
};

/// What is registered on a device, in order to refuse a request that names other memory: the device
/// would end the connection for it. Thread-safe.
class registrations {
 public:
  struct entry {
    const void* domain = nullptr;
    const std::byte* data = nullptr;
    std::size_t size = 0;
    verbs::Access rights{};
  };
  /// What was found last, by one that asks again: most requests of a connection name the memory
  /// that the one before named, and nothing is locked for them.
  struct memo {
    Stag lkey{};
    entry known{};
    std::uint64_t ended = UINT64_MAX;
  };

  void add(Stag lkey, const entry& what);
  void remove(Stag lkey);
  /// The registration; none if none is known under that key, or no more.
  [[nodiscard]] std::optional<entry> find(Stag lkey, memo& last) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Stag, entry> entries_;
  std::atomic<std::uint64_t> ended_{0};
};

/// Why `buffer`, which is to permit what is `needed`, cannot be used as `known` in `domain`, if it
/// cannot.
std::optional<complaint> complaint_of(const const_local_buffer& buffer,
                                      const registrations::entry& known, const void* domain,
                                      verbs::Access needed);
/// The same of the region that a window is to be bound to.
std::optional<complaint> complaint_of(const verbs::BindWr& request,
                                      const registrations::entry& known, const void* domain);

/// A buffer in a sentence: "100 octets at 0x7f… (lkey 0x…)".
std::string to_text(const const_local_buffer& buffer);

}  // namespace iwarp::asio::detail
