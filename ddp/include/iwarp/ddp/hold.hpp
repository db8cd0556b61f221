#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "iwarp/ddp/stag_table.hpp"

namespace iwarp::ddp {

/// Reaches into Tagged Buffers on behalf of one stream, and keeps the last one pinned, as most
/// segments go where the one before them went: an octet of a buffer that is held costs neither a
/// look-up nor a locked instruction. Whether its STag is still in force is looked at each time. One
/// thread at a time; it lets go before it waits for anything, since a deregistration may be waiting
/// for it.
class Hold {
 public:
  /// Of the buffers of `stags` as `by` may use them.
  Hold(const StagTable& stags, const Accessor& by) : stags_(stags), by_(by) {}

  /// Where [to, to + length) lies, until the next call. Errors: those of StagTable::pin().
  Result<std::byte*, Error> reach(Stag stag, Rights wanted, TaggedOffset to, std::uint64_t length) {
    if (std::byte* const memory = pin_.reach(stag, wanted, to, length)) return memory;
    auto pin = stags_.pin(stag, by_, wanted, to, length, recent_);
    if (!pin) return failure(pin.error());
    pin_ = std::move(*pin);
    return pin_.memory();
  }
  /// Holds nothing any more.
  void let_go() { pin_ = StagTable::Pin(); }

 private:
  const StagTable& stags_;
  Accessor by_;
  StagTable::Recent recent_;
  StagTable::Pin pin_;
};

}  // namespace iwarp::ddp
