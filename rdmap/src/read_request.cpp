#include "iwarp/rdmap/read_request.hpp"

namespace iwarp::rdmap {
namespace {

// RFC 5040 Figure 6.
constexpr std::size_t kSinkStagAt = 0;
constexpr std::size_t kSinkToAt = 4;
constexpr std::size_t kSizeAt = 12;
constexpr std::size_t kSourceStagAt = 16;
constexpr std::size_t kSourceToAt = 20;

}  // namespace

void ReadRequest::encode(std::byte* at) const {
  store_be(at + kSinkStagAt, sink_stag.value());
  store_be(at + kSinkToAt, sink_to.value());
  store_be(at + kSizeAt, size);
  store_be(at + kSourceStagAt, source_stag.value());
  store_be(at + kSourceToAt, source_to.value());
}

std::optional<ReadRequest> ReadRequest::parse(ConstBytes bytes) {
  if (bytes.size() != kSize) return std::nullopt;
  return ReadRequest{Stag{load_be<std::uint32_t>(&bytes[kSinkStagAt])},
                     TaggedOffset{load_be<std::uint64_t>(&bytes[kSinkToAt])},
                     load_be<std::uint32_t>(&bytes[kSizeAt]),
                     Stag{load_be<std::uint32_t>(&bytes[kSourceStagAt])},
                     TaggedOffset{load_be<std::uint64_t>(&bytes[kSourceToAt])}};
}

}  // namespace iwarp::rdmap
