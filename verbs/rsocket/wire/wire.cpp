#include "wire/wire.hpp"

#include <algorithm>

namespace iwarp::rsocket {

namespace {

// Hello and Refusal begin alike.
constexpr std::size_t kMagicAt = 0;
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kRingAddressAt = 8;
constexpr std::size_t kRingLengthAt = 16;
constexpr std::size_t kRingKeyAt = 20;
constexpr std::size_t kMessagesAt = 24;

constexpr std::size_t kTypeAt = 0;
constexpr std::size_t kGrantedAt = 8;
constexpr std::size_t kReleasedAt = 16;
constexpr std::size_t kLengthAt = 24;
constexpr std::size_t kOffsetAt = 32;
constexpr std::size_t kAddressAt = 40;
constexpr std::size_t kKeyAt = 48;

bool has_map_fields(MessageType type) {
  return type == MessageType::kMap || type == MessageType::kUnmap;
}

bool is_known(std::uint8_t type) {
  return type >= static_cast<std::uint8_t>(MessageType::kCredit) &&
         type <= static_cast<std::uint8_t>(MessageType::kFin);
}

void encode_start(MutableBytes out) {
  std::ranges::fill(out, std::byte{0});
  store_be(out.data() + kMagicAt, kMagic);
  store_be(out.data() + kVersionAt, kVersion);
}

bool is_ours(ConstBytes bytes) {
  return bytes.size() >= Refusal::kSize &&
         load_be<std::uint32_t>(bytes.data() + kMagicAt) == kMagic;
}

std::uint8_t version_of(ConstBytes bytes) {
  return load_be<std::uint8_t>(bytes.data() + kVersionAt);
}

}  // namespace

std::array<std::byte, Hello::kSize> Hello::encode() const {
  std::array<std::byte, kSize> out;
  encode_start(out);
  store_be(out.data() + kRingAddressAt, ring_address);
  store_be(out.data() + kRingLengthAt, ring_length);
  store_be(out.data() + kRingKeyAt, ring_key);
  store_be(out.data() + kMessagesAt, messages);
  return out;
}

Result<Hello, HelloError> Hello::parse(ConstBytes bytes) {
  if (!is_ours(bytes)) return failure(HelloError::kForeign);
  if (version_of(bytes) != kVersion) return failure(HelloError::kOtherVersion);
  if (bytes.size() < kSize) return failure(HelloError::kMalformed);
  const Hello hello{.ring_address = load_be<std::uint64_t>(bytes.data() + kRingAddressAt),
                    .ring_length = load_be<std::uint32_t>(bytes.data() + kRingLengthAt),
                    .ring_key = load_be<std::uint32_t>(bytes.data() + kRingKeyAt),
                    .messages = load_be<std::uint32_t>(bytes.data() + kMessagesAt)};
  const bool wraps = hello.ring_address + hello.ring_length < hello.ring_address;
  if (hello.ring_length < kMinRing || hello.messages < kMinMessages || wraps)
    return failure(HelloError::kMalformed);
  return hello;
}

std::array<std::byte, Refusal::kSize> Refusal::encode() {
  std::array<std::byte, kSize> out;
  encode_start(out);
  return out;
}

bool Refusal::means_other_version(ConstBytes bytes) {
  return is_ours(bytes) && version_of(bytes) != kVersion;
}

std::size_t Message::size() const { return has_map_fields(type) ? kMaxSize : kShortSize; }

void Message::encode(MutableBytes out) const {
  std::ranges::fill(out.first(size()), std::byte{0});
  store_be(out.data() + kTypeAt, static_cast<std::uint8_t>(type));
  store_be(out.data() + kGrantedAt, granted);
  store_be(out.data() + kReleasedAt, released);
  store_be(out.data() + kLengthAt, length);
  if (!has_map_fields(type)) return;
  store_be(out.data() + kOffsetAt, offset);
  store_be(out.data() + kAddressAt, address);
  store_be(out.data() + kKeyAt, key);
}

Result<Message, MessageError> parse_message(ConstBytes bytes) {
  if (bytes.size() < Message::kShortSize) return failure(MessageError::kTruncated);
  const auto type = load_be<std::uint8_t>(bytes.data() + kTypeAt);
  if (!is_known(type)) return failure(MessageError::kUnknownType);
  Message message{.type = static_cast<MessageType>(type),
                  .granted = load_be<std::uint64_t>(bytes.data() + kGrantedAt),
                  .released = load_be<std::uint64_t>(bytes.data() + kReleasedAt),
                  .length = load_be<std::uint64_t>(bytes.data() + kLengthAt)};
  if (!has_map_fields(message.type)) return message;
  if (bytes.size() < Message::kMaxSize) return failure(MessageError::kTruncated);
  message.offset = load_be<std::uint64_t>(bytes.data() + kOffsetAt);
  message.address = load_be<std::uint64_t>(bytes.data() + kAddressAt);
  message.key = load_be<std::uint32_t>(bytes.data() + kKeyAt);
  return message;
}

}  // namespace iwarp::rsocket
