#include "registrations.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace iwarp::asio::detail {

std::string to_text(const const_local_buffer& buffer) {
  std::array<char, 96> text;
  const int size = std::snprintf(text.data(), text.size(), "%zu octets at %p (lkey 0x%08x)",
                                 buffer.size(), static_cast<const void*>(buffer.data()),
                                 static_cast<unsigned>(buffer.lkey().value()));
  return {text.data(), static_cast<std::size_t>(size)};
}

void registrations::add(Stag lkey, const entry& what) {
  const std::lock_guard lock(mutex_);
  entries_[lkey] = what;
}

// What was found before does not count any more.
void registrations::remove(Stag lkey) {
  const std::lock_guard lock(mutex_);
  entries_.erase(lkey);
  ended_.fetch_add(1, std::memory_order_release);
}

std::optional<registrations::entry> registrations::find(Stag lkey, memo& last) const {
  if (last.lkey == lkey && last.ended == ended_.load(std::memory_order_acquire)) return last.known;
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(lkey);
  if (at == entries_.end()) return std::nullopt;
  last = {lkey, at->second, ended_.load(std::memory_order_relaxed)};
  return at->second;
}

std::optional<complaint> complaint_of(const const_local_buffer& buffer,
                                      const registrations::entry& known, const void* domain,
                                      verbs::Access needed) {
  if (known.domain != domain) {
    return complaint{errc::not_registered,
                     to_text(buffer) + ": registered in another domain than the connection's"};
  }
  const std::byte* const begin = buffer.data();
  const bool inside = begin >= known.data && begin <= known.data + known.size &&
                      buffer.size() <= static_cast<std::size_t>(known.data + known.size - begin);
  if (!inside) {
    return complaint{errc::not_registered, to_text(buffer) + ": not inside the " +
                                               std::to_string(known.size) +
                                               " octets that are registered"};
  }
  if (has(known.rights, needed)) return std::nullopt;
  const bool local = !has(known.rights, verbs::Access::kLocalWrite);
  return complaint{errc::not_writable,
                   to_text(buffer) + (local ? ": registered without access_rights::kLocalWrite, "
                                              "which what arrives needs"
                                            : ": registered without access_rights::kRemoteWrite, "
                                              "which Reads need on this device "
                                              "(domain::read_sink())")};
}

// Which part of a region that is, is not looked at: memory_window cuts it out of the region.
std::optional<complaint> complaint_of(const verbs::BindWr& request,
                                      const registrations::entry& known, const void* domain) {
  using verbs::Access;
  constexpr Access kRemote = Access::kRemoteWrite | Access::kRemoteRead | Access::kRemoteAtomic |
                             Access::kRemoteInvalidate;
  const auto refused = [](std::string sentence) {
    return complaint{errc::window_bind, std::move(sentence)};
  };
  if (known.domain != domain) return refused("the region is of another domain");
  if (request.length == 0) return refused("a part of the region that has no octets");
  if (!has(known.rights, Access::kWindowBind)) {
    return refused("the region was registered without access_rights::kWindowBind");
  }
  if (!has(kRemote, request.access)) return refused("a window has rights of the peer only");
  const bool lets_write =
      has(request.access, Access::kRemoteWrite) || has(request.access, Access::kRemoteAtomic);
  if (lets_write && !has(known.rights, Access::kLocalWrite)) {
    return refused(
        "the peer is to write, and the region was registered without "
        "access_rights::kLocalWrite");
  }
  return std::nullopt;
}

}  // namespace iwarp::asio::detail
