#include "registrations.hpp"

#include <array>
#include <cstdio>

namespace iwarp::asio::detail {

std::string to_text(const local_buffer& buffer) {
  std::array<char, 96> text;
  const int size =
      std::snprintf(text.data(), text.size(), "%zu octets at %p (lkey 0x%08x)", buffer.size(),
                    buffer.data(), static_cast<unsigned>(buffer.lkey().value()));
  return {text.data(), static_cast<std::size_t>(size)};
}

void registrations::add(Stag lkey, const entry& what) {
  const std::lock_guard lock(mutex_);
  entries_[lkey] = what;
}

void registrations::remove(Stag lkey) {
  const std::lock_guard lock(mutex_);
  entries_.erase(lkey);
}

std::string registrations::complaint(const local_buffer& buffer, const void* domain,
                                     bool written) const {
  if (buffer.size() == 0) return {};
  const std::lock_guard lock(mutex_);
  const std::string name = to_text(buffer);
  const auto at = entries_.find(buffer.lkey());
  if (at == entries_.end()) return name + ": no memory is registered under that key, or no more";
  const entry& known = at->second;
  if (known.domain != domain) return name + ": registered in another domain than the connection's";
  const auto* begin = static_cast<const std::byte*>(buffer.data());
  const bool inside = begin >= known.data && begin <= known.data + known.size &&
                      buffer.size() <= static_cast<std::size_t>(known.data + known.size - begin);
  if (!inside) {
    return name + ": not inside the " + std::to_string(known.size) + " octets that are registered";
  }
  if (written && !has(known.rights, verbs::Access::kLocalWrite)) {
    return name + ": registered without access::kLocalWrite, which what arrives needs";
  }
  return {};
}

}  // namespace iwarp::asio::detail
