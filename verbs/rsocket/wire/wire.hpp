#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/result.hpp"

/// What two rsockets say to each other. All numbers are in network byte order.
///
/// Each end announces, in the private data of the connection, a ring in its memory. Stream data
/// travels as RDMA Writes into the peer's ring; a Send behind them, a Message, says how much came.
/// Every Message also says what its sender has freed: octets of its ring and receives.
namespace iwarp::rsocket {

/// "iwRS", in front of all private data.
inline constexpr std::uint32_t kMagic = 0x69775253;
/// Ends of different versions do not talk to each other.
inline constexpr std::uint8_t kVersion = 1;

/// Why private data is not a Hello.
enum class HelloError {
  kForeign,       ///< Not of this protocol at all.
  kOtherVersion,  ///< Of another version of it.
  kMalformed,     ///< Of this version, with numbers that cannot be.
};

/// Private data of a request and of its acceptance: the ring in which this end takes data.
struct Hello {
  static constexpr std::size_t kSize = 32;

  std::uint64_t ring_address = 0;
  std::uint32_t ring_length = 0;  ///< Octets; at least kMinRing.
  std::uint32_t ring_key = 0;     ///< The STag.
  std::uint32_t messages = 0;     ///< Receives that are posted; at least kMinMessages.

  bool operator==(const Hello&) const = default;
  [[nodiscard]] std::array<std::byte, kSize> encode() const;
  /// Octets behind the first kSize are not looked at: a connection manager may pad.
  static Result<Hello, HelloError> parse(ConstBytes bytes);
};

inline constexpr std::uint32_t kMinRing = 1024;
inline constexpr std::uint32_t kMinMessages = 4;

/// Private data of a rejection: says which version the peer speaks.
struct Refusal {
  static constexpr std::size_t kSize = 8;

  [[nodiscard]] static std::array<std::byte, kSize> encode();
  /// Whether a rejection's private data is that of an rsocket which speaks another version.
  [[nodiscard]] static bool means_other_version(ConstBytes bytes);
};

enum class MessageType : std::uint8_t {
  kCredit = 1,  ///< Nothing but what each Message tells.
  kData,        ///< `length` octets were written behind those before, in the ring.
  kMap,         ///< Memory that the peer may write to.
  kUnmap,       ///< The memory with this key is gone.
  kFin,         ///< No data follows.
};

/// One Send.
struct Message {
  static constexpr std::size_t kShortSize = 32;  ///< All but kMap and kUnmap.
  static constexpr std::size_t kMaxSize = 56;

  MessageType type = MessageType::kCredit;
  std::uint64_t granted = 0;   ///< Messages that the receiver of this may send, since the start.
  std::uint64_t released = 0;  ///< Octets of the sender's ring that were freed, since the start.
  std::uint64_t length = 0;    ///< kData, kMap: octets.
  std::uint64_t offset = 0;    ///< kMap: the name of the first octet for riowrite.
  std::uint64_t address = 0;   ///< kMap: the Tagged Offset of the first octet.
  std::uint32_t key = 0;       ///< kMap, kUnmap: the STag.

  bool operator==(const Message&) const = default;
  [[nodiscard]] std::size_t size() const;
  /// Precondition: `out` has size() octets.
  void encode(MutableBytes out) const;
};

enum class MessageError { kTruncated, kUnknownType };

Result<Message, MessageError> parse_message(ConstBytes bytes);

}  // namespace iwarp::rsocket
