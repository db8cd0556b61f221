#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "iwarp/asio/buffer.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::asio::detail {

/// What is registered on a device, in order to say what is wrong with a buffer that an operation
/// failed with. Nothing of this is asked before. Thread-safe.
class registrations {
 public:
  struct entry {
    const void* domain = nullptr;
    const std::byte* data = nullptr;
    std::size_t size = 0;
    verbs::Access rights{};
  };

  void add(Stag lkey, const entry& what);
  void remove(Stag lkey);
  /// Why `buffer` cannot be used in `domain` (written into, if `written`), in a sentence without an
  /// end; empty if nothing is wrong with it now.
  [[nodiscard]] std::string complaint(const local_buffer& buffer, const void* domain,
                                      bool written) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Stag, entry> entries_;
};

/// A buffer in a sentence: "100 octets at 0x7f… (lkey 0x…)".
std::string to_text(const local_buffer& buffer);

}  // namespace iwarp::asio::detail
