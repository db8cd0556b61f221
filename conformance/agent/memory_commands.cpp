#include <algorithm>
#include <iterator>

#include "agent/session.hpp"

/// Regions and windows, and their contents.
namespace iwarp::agent {
namespace {

using agent_protocol::RightTo;
using verbs::Access;

// Of all regions of a tester together: a mistake of his shall not take the machine's memory.
constexpr std::size_t kMostMemory = std::size_t{1} << 30;

// What a right of the protocol is to the stack.
struct NamedAccess {
  agent_protocol::Right name;
  Access access;
};
constexpr NamedAccess kRights[] = {
    {"local_write", Access::kLocalWrite},
    {"remote_write", Access::kRemoteWrite},
    {"remote_read", Access::kRemoteRead},
    {"remote_atomic", Access::kRemoteAtomic},
    {"remote_invalidate", Access::kRemoteInvalidate},
};
static_assert(std::size(kRights) == std::size(agent_protocol::kAccess));

Access access_named(std::string_view right) {
  const auto name_of = [](const NamedAccess& each) { return each.name.text(); };
  return std::ranges::find(kRights, right, name_of)->access;
}

// Both ends are inside: a range of no octets may stand at the end.
void check_range(std::size_t size, std::uint64_t offset, std::uint64_t length) {
  if (offset <= size && length <= size - offset) return;
  throw invalid("octets " + std::to_string(offset) + " to " + std::to_string(offset) + " + " +
                std::to_string(length) + " are not inside the region of " + std::to_string(size));
}

}  // namespace

Access Session::access_of(const Command& command, RightTo what) const {
  using agent_protocol::kAccess;
  const std::string& list = command.text("access");
  Access access = Access::kNone;
  if (list == agent_protocol::kNone) return access;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view name = std::string_view(list).substr(begin, end - begin);
    const auto* const line = agent_protocol::find_line(kAccess, name);
    if (line == std::end(kAccess) || line->to < what) {
      throw invalid("access=" + list.substr(0, 100) + " is not known here");
    }
    need(line->feature);
    access = access | access_named(name);
    begin = end + 1;
  }
  return access;
}

Reply Session::region(const Command& command) {
  const std::uint64_t size = command.number("size");
  const auto fill = command.has("fill") ? command.octets("fill") : std::vector{std::byte{0}};
  if (fill.size() != 1) throw invalid("fill is not one octet");
  const Access access = access_of(command, RightTo::kRegion);
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
  const Access access = access_of(command, RightTo::kRegionOrWindow);
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
  const std::uint64_t length = command.number("length", agent_protocol::kMostOctets);
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
