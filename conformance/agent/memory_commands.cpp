#include <algorithm>
#include <array>

#include "agent/session.hpp"

/// Regions and windows, and their contents.
namespace iwarp::agent {
namespace {

using verbs::Access;

// Of all regions of a tester together: a mistake of his shall not take the machine's memory.
constexpr std::size_t kMostMemory = std::size_t{1} << 30;

struct NamedAccess {
  std::string_view name;
  Access access;
};
constexpr std::array kRemoteAccess{
    NamedAccess{"remote_write", Access::kRemoteWrite},
    NamedAccess{"remote_read", Access::kRemoteRead},
    NamedAccess{"remote_atomic", Access::kRemoteAtomic},
};
constexpr std::array kRegionAccess{
    NamedAccess{"local_write", Access::kLocalWrite},
    kRemoteAccess[0],
    kRemoteAccess[1],
    kRemoteAccess[2],
    NamedAccess{"remote_invalidate", Access::kRemoteInvalidate},
};

Access parse_access(const std::string& list, std::span<const NamedAccess> known) {
  Access access = Access::kNone;
  if (list == "none") return access;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view name = std::string_view(list).substr(begin, end - begin);
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const NamedAccess& each) { return each.name == name; });
    if (found == known.end()) throw invalid("access=" + list.substr(0, 100) + " is not known here");
    access = access | found->access;
    begin = end + 1;
  }
  return access;
}

// Both ends are inside: a range of no octets may stand at the end.
void check_range(std::size_t size, std::uint64_t offset, std::uint64_t length) {
  if (offset <= size && length <= size - offset) return;
  throw invalid("octets " + std::to_string(offset) + " to " + std::to_string(offset) + " + " +
                std::to_string(length) + " are not inside the region of " + std::to_string(size));
}

}  // namespace

Reply Session::region(const Command& command) {
  const std::uint64_t size = command.number("size");
  const auto fill = command.has("fill") ? command.octets("fill") : std::vector{std::byte{0}};
  if (fill.size() != 1) throw invalid("fill is not one octet");
  const Access access = parse_access(command.text("access"), kRegionAccess);
  if (size > kMostMemory - octets_) {
    throw refused(std::errc::not_enough_memory,
                  "the regions would exceed " + std::to_string(kMostMemory) + " octets");
  }
  Region region{.memory = std::vector<std::byte>(size, fill[0]), .registered = nullptr};
  region.registered = std::make_unique<verbs::MemoryRegion>(
      require(pd_.register_memory(region.memory, access | Access::kWindowBind)));
  const verbs::RemoteBuffer remote = region.registered->remote();
  regions_.emplace(next_id_, std::move(region));
  octets_ += size;
  return Reply()
      .number("region", next_id_++)
      .stag("stag", remote.stag)
      .address("address", remote.offset);
}

Session::Region& Session::region_of(const Command& command) {
  const std::uint64_t id = command.number("region");
  const auto found = regions_.find(id);
  if (found == regions_.end()) throw invalid("there is no region " + std::to_string(id));
  return found->second;
}

Reply Session::deregister(const Command& command) {
  const std::size_t size = region_of(command).memory.size();
  const std::uint64_t id = command.number("region");
  regions_.erase(id);
  octets_ -= size;
  return {};
}

Reply Session::window(const Command& command) {
  Endpoint& endpoint = endpoint_of(command);
  const Region& region = region_of(command);
  const std::uint64_t offset = command.number("offset");
  const std::uint64_t length = command.number("length");
  check_range(region.memory.size(), offset, length);
  const Access access = parse_access(command.text("access"), kRemoteAccess);
  auto window = require(pd_.alloc_window(verbs::WindowType::k2));
  const std::uint32_t made = window.rkey().value();
  const Stag stag{(made & 0xFFFFFF00U) | ((made + 1U) & 0xFFU)};
  endpoint.bind(region.registered->bind_to(stag, offset, length, access), options_.attend);
  windows_.push_back(std::move(window));
  return Reply().stag("stag", stag);
}

Reply Session::fetch(const Command& command) {
  const Region& region = region_of(command);
  const std::uint64_t offset = command.number("offset");
  const std::uint64_t length = command.number("length", kMostOctets);
  check_range(region.memory.size(), offset, length);
  return Reply().octets("data", ConstBytes(region.memory).subspan(offset, length));
}

Reply Session::store(const Command& command) {
  Region& region = region_of(command);
  const std::uint64_t offset = command.number("offset");
  const std::vector<std::byte> data = command.octets("data");
  check_range(region.memory.size(), offset, data.size());
  std::copy(data.begin(), data.end(), MutableBytes(region.memory).subspan(offset).begin());
  return {};
}

std::vector<verbs::Sge> Session::sges_of(const Command& command) {
  const Region& region = region_of(command);
  const std::uint64_t offset = command.number("offset");
  const std::uint64_t length = command.number("length", UINT32_MAX);
  check_range(region.memory.size(), offset, length);
  if (length == 0) return {};
  return {region.registered->sge(offset, static_cast<std::uint32_t>(length))};
}

}  // namespace iwarp::agent
