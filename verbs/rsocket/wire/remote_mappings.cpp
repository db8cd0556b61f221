#include "wire/remote_mappings.hpp"

#include <algorithm>

namespace iwarp::rsocket {

bool RemoteMappings::add(const RemoteMapping& mapping) {
  const bool wraps = mapping.offset + mapping.length < mapping.offset ||
                     mapping.address + mapping.length < mapping.address;
  if (mappings_.size() == kMost || wraps) return false;
  mappings_.push_back(mapping);
  return true;
}

bool RemoteMappings::remove(std::uint32_t key) {
  return std::erase_if(mappings_, [&](const RemoteMapping& each) { return each.key == key; }) > 0;
}

std::optional<RemoteMapping> RemoteMappings::at(std::uint64_t offset) const {
  const auto found = std::find_if(mappings_.rbegin(), mappings_.rend(), [&](const auto& each) {
    return offset >= each.offset && offset - each.offset < each.length;
  });
  if (found == mappings_.rend()) return std::nullopt;
  const std::uint64_t skipped = offset - found->offset;
  return RemoteMapping{offset, found->length - skipped, found->address + skipped, found->key};
}

}  // namespace iwarp::rsocket
