#pragma once

#include "cases/rdma.hpp"

namespace iwarp::conform {

/// 64 bits of the target's memory that the tester may change by Atomic Operations.
struct AtomicWord {
  Region region;
  std::size_t offset = 0;  ///< Of the first word of `region` that is aligned.

  static constexpr std::size_t kRegionSize = 64;
  std::uint64_t to() const { return region.address + offset; }
};

/// Registers it; skips if the target has no Atomic Operations.
AtomicWord atomic_word(Context& context, const std::string& access = "local_write,remote_atomic");

/// The next message is an Atomic Response.
struct ReceivedOriginal {
  std::uint32_t msn = 0;
  AtomicResponse response;
};
ReceivedOriginal expect_atomic_response(Stream& stream);

/// Performs it on the word and returns the original value. STag and TO are filled in.
std::uint64_t perform(Context& context, Stream& stream, const AtomicWord& word,
                      AtomicRequest request);
/// Makes the word hold `value` by a CmpSwap that compares nothing.
void set_word(Context& context, Stream& stream, const AtomicWord& word, std::uint64_t value);

/// Eight octets of the target's memory hold `value` in the order of its processor, which is not
/// known.
void expect_word(Context& context, const Region& region, std::size_t offset, std::uint64_t value);

}  // namespace iwarp::conform
