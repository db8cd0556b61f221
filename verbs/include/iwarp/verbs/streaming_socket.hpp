#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "iwarp/process/descriptor.hpp"

namespace iwarp::verbs {

/// A connected TCP socket on which a program speaks, or has spoken, a protocol of its own:
/// streaming mode, in RFC 5044's words (§7.1). Owns the descriptor and closes it. Not thread-safe.
///
/// Adopting it starts MPA on the connection. A call that adopts takes the socket, and leaves this
/// empty, exactly if it does not fail at once. From then on the library closes the descriptor: at
/// the end of the RDMA connection, or soon after a start-up that fails, times out, is aborted or is
/// rejected. Only after a rejection it can come back instead: AfterRejection::kGiveBack,
/// ConnectionRequest::reject_and_keep().
///
/// While it is adopted the program neither uses the descriptor nor watches it (epoll and the like).
/// It may be blocking or not; it comes back as it was.
class StreamingSocket {
 public:
  StreamingSocket() = default;
  /// `already_read` are the octets that were read from the socket and not used, in their order:
  /// what came behind the last message of the program's own protocol. Any number; they may be a
  /// part of the peer's MPA frame, or the whole and what follows.
  explicit StreamingSocket(int descriptor, std::vector<std::byte> already_read = {})
      : descriptor_(descriptor), already_read_(std::move(already_read)) {}

  /// The descriptor, which stays this object's; -1 if it is empty.
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  /// Whether it owns a descriptor.
  explicit operator bool() const { return static_cast<bool>(descriptor_); }
  /// What comes before everything that is still to be read from the descriptor.
  [[nodiscard]] const std::vector<std::byte>& already_read() const { return already_read_; }

  /// Leaves the descriptor to the caller, who closes it; -1 if this is empty.
  [[nodiscard]] int release() { return descriptor_.release(); }
  /// Moves the octets of already_read() out; none are left.
  [[nodiscard]] std::vector<std::byte> take_already_read() {
    return std::exchange(already_read_, {});
  }

 private:
  process::Descriptor descriptor_;
  std::vector<std::byte> already_read_;
};

}  // namespace iwarp::verbs
