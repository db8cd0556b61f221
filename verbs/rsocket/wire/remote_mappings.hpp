#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace iwarp::rsocket {

/// Memory of the peer that riowrite may write to.
struct RemoteMapping {
  std::uint64_t offset = 0;  ///< Its name for riowrite.
  std::uint64_t length = 0;
  std::uint64_t address = 0;  ///< Its Tagged Offset.
  std::uint32_t key = 0;      ///< Its STag.
};

/// What the peer has mapped (riomap) and not taken back.
class RemoteMappings {
 public:
  /// More mappings than this are taken for a fault of the peer.
  static constexpr std::size_t kMost = 4096;

  /// False if there are too many, or the range wraps.
  [[nodiscard]] bool add(const RemoteMapping& mapping);
  /// False if there is none with that key.
  [[nodiscard]] bool remove(std::uint32_t key);
  /// The part of a mapping that begins at `offset`. The newest mapping counts.
  [[nodiscard]] std::optional<RemoteMapping> at(std::uint64_t offset) const;

 private:
  std::vector<RemoteMapping> mappings_;
};

}  // namespace iwarp::rsocket
