// Direct data placement: riomap, riounmap, riowrite.
#include <algorithm>
#include <cerrno>

#include "stream.hpp"

namespace iwarp::rsocket {

Stream::Mappings::~Mappings() {
  for (const Mapping& each : *this) ibv_dereg_mr(each.mr);
}

int Stream::map(void* memory, std::size_t length, std::uint64_t offset, bool remote) {
  if (length == 0 || offset + length < offset) return EINVAL;
  const unsigned access = remote ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE : 0U;
  errno = 0;
  ibv_mr* const mr = ibv_reg_mr(connection_.pd(), memory, length, access);
  if (mr == nullptr) return errno != 0 ? errno : ENOMEM;
  mappings_.push_back({memory, length, mr, remote});
  if (!remote) return 0;
  // In turn with the data: an end that has received later data knows of the mapping.
  pending_.push_back({.type = MessageType::kMap,
                      .length = length,
                      .offset = offset,
                      .address = reinterpret_cast<std::uintptr_t>(memory),
                      .key = mr->rkey});
  flush();
  return 0;
}

int Stream::unmap(const void* memory, std::size_t length) {
  const auto found = std::ranges::find_if(mappings_, [&](const Mapping& each) {
    return each.memory == memory && each.length == length;
  });
  if (found == mappings_.end()) return EINVAL;
  const Mapping mapping = *found;
  mappings_.erase(found);
  if (mapping.remote) {
    pending_.push_back({.type = MessageType::kUnmap, .key = mapping.mr->rkey});
    flush();
  }
  return ibv_dereg_mr(mapping.mr);
}

int Stream::write_mapped(Scatter& from, std::uint64_t offset) {
  while (from.left() > 0 && !ended_) {
    const auto target = remote_.at(offset + from.passed());
    if (!target) return from.passed() > 0 ? 0 : EFAULT;
    const std::uint64_t room = connection_.send_room();
    const std::uint64_t length = std::min<std::uint64_t>({from.left(), room, target->length});
    if (length == 0) return 0;
    const Connection::Write write{stage(from, length), target->address, target->key};
    if (const int error = connection_.post(&write, nullptr); error != 0) {
      ended_ = true;
      return error;
    }
  }
  return 0;
}

}  // namespace iwarp::rsocket
