#pragma once

#include <array>
#include <optional>

#include "fuzz/input.hpp"
#include "iwarp/rdmap/outstanding_requests.hpp"
#include "support/segments.hpp"

namespace iwarp::fuzz {

using test::Ulpdu;

/// What a peer sends, as a fuzzer chooses it: messages of each kind whose headers are right (order,
/// place in the message, the names of what is there) unless an octet of deviations asks otherwise.
class PeerMessages {
 public:
  virtual ~PeerMessages() = default;

  Ulpdu write(Input& input);
  Ulpdu message(Input& input);  ///< A Send of any kind, or Immediate Data.
  Ulpdu read_request(Input& input);
  Ulpdu atomic_request(Input& input);
  Ulpdu response(Input& input);
  Ulpdu terminate(Input& input);

  /// A ULPDU has been sent, and taken as far as the peer knows: the next one follows it.
  void follow(ConstBytes ulpdu);

 protected:
  /// The request whose response this peer owes.
  struct Due {
    rdmap::Owed owed = rdmap::Owed::kReadResponse;
    Stag sink;  ///< Of an Atomic Request its identifier.
    std::uint32_t length = 0;
  };
  [[nodiscard]] virtual std::optional<Due> due() const = 0;
  /// The last segment of the response has been sent.
  virtual void answered() {}
  /// An STag of the other end; most often one that is good for something.
  [[nodiscard]] virtual Stag some_stag(Input& input) = 0;
  /// A Tagged Offset, most often within or near the buffer of an STag.
  [[nodiscard]] virtual std::uint64_t some_offset(Input& input, Stag stag) = 0;

 private:
  struct QueueState {
    std::uint32_t msn = 1, mo = 0;
  };
  Ulpdu untagged(Input& input, rdmap::Opcode opcode, ConstBytes payload, Stag invalidate = {});
  Ulpdu atomic_response(Input& input, Stag id);

  std::array<QueueState, rdmap::kQueueCount> queues_{};
  std::uint32_t response_at_ = 0;  // octets of the Read Response that is due
};

}  // namespace iwarp::fuzz
