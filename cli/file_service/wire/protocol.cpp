#include "file_service/wire/protocol.hpp"

#include <algorithm>
#include <cstring>

namespace iwarp::cli::file_service {
namespace {

// What every message starts with.
constexpr std::size_t kMagicAt = 0;
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kHelloFlagsAt = 5;
constexpr std::uint8_t kKeepsStags = 1;

// Requests.
constexpr std::size_t kOperationAt = 5;
constexpr std::size_t kHashAt = 6;
constexpr std::size_t kRequestIdAt = 8;
constexpr std::size_t kStagAt = 12;
constexpr std::size_t kOffsetAt = 16;
constexpr std::size_t kBufferLengthAt = 24;
constexpr std::size_t kRequestPayloadLengthAt = 28;
constexpr std::size_t kRequestPositionAt = 32;
constexpr std::size_t kRequestHeader = 40;
static_assert(kMaxRequest == kRequestHeader + kMaxName);

// Answers, and the welcome.
constexpr std::size_t kStatusAt = 5;
constexpr std::size_t kCreditsAt = 6;
constexpr std::size_t kMaxChunkAt = 8;
constexpr std::size_t kReplyIdAt = 8;
constexpr std::size_t kLengthAt = 12;
constexpr std::size_t kReplyPositionAt = 16;
constexpr std::size_t kReplyPayloadLengthAt = 24;
constexpr std::size_t kReplyHeader = 32;
static_assert(kMaxReply == kReplyHeader + kMaxText);

template <typename T>
T load(ConstBytes bytes, std::size_t at) {
  return load_be<T>(bytes.data() + at);
}

template <typename T>
void store(MutableBytes bytes, std::size_t at, T value) {
  store_be<T>(bytes.data() + at, value);
}

void store_preamble(MutableBytes bytes, std::uint8_t version) {
  store(bytes, kMagicAt, kMagic);
  store(bytes, kVersionAt, version);
}

void copy_payload(ConstBytes payload, std::byte* to) {
  if (!payload.empty()) std::memcpy(to, payload.data(), payload.size());
}

/// Checks length, magic and version of a message whose header has `header` octets.
Result<void, ParseError> check_preamble(ConstBytes bytes, std::size_t header) {
  if (bytes.size() < header) return failure(ParseError::kTruncated);
  if (load<std::uint32_t>(bytes, kMagicAt) != kMagic) return failure(ParseError::kBadMagic);
  if (load<std::uint8_t>(bytes, kVersionAt) != kVersion) return failure(ParseError::kBadVersion);
  return {};
}

bool takes_name(Operation operation) {
  return operation == Operation::kOpenPut || operation == Operation::kOpenGet ||
         operation == Operation::kList;
}

bool payload_fits(Operation operation, HashKind hash, std::size_t size) {
  if (takes_name(operation)) return size <= kMaxName;
  if (operation == Operation::kCommit && hash == HashKind::kSha256) return size == Digest{}.size();
  return size == 0;
}

}  // namespace

const char* describe(Status status) {
  switch (status) {
    case Status::kOk: return "done";
    case Status::kWorking: return "the server is still working";
    case Status::kBadRequest: return "the server did not understand the request";
    case Status::kBadVersion: return "the server speaks another version of the file protocol";
    case Status::kBusy: return "the server has as many clients as it takes";
    case Status::kBadName: return "the server refuses the name";
    case Status::kNotFound: return "no such file or directory on the server";
    case Status::kNotAFile: return "not a regular file on the server";
    case Status::kDenied: return "permission denied on the server";
    case Status::kSymbolicLink: return "the server does not follow symbolic links";
    case Status::kNoSpace: return "no space left on the server";
    case Status::kTooLarge: return "too large for the server";
    case Status::kInputOutput: return "the server could not read or write the file";
    case Status::kHashMismatch: return "the server received other bytes than were sent";
    case Status::kChanged: return "the file changed while it was sent";
    case Status::kEnded: return "the server ended";
  }
  return "unknown status";
}

const char* describe(ParseError error) {
  switch (error) {
    case ParseError::kTruncated: return "truncated message";
    case ParseError::kBadMagic: return "wrong magic";
    case ParseError::kBadVersion: return "unknown version";
    case ParseError::kBadOperation: return "unknown operation";
    case ParseError::kBadHash: return "unknown hash";
    case ParseError::kBadStatus: return "unknown status";
    case ParseError::kBadBuffer: return "buffer that does not fit the operation";
    case ParseError::kBadPayload: return "payload that does not fit the operation";
  }
  return "unknown error";
}

std::array<std::byte, Hello::kSize> Hello::encode() const {
  std::array<std::byte, kSize> bytes{};
  store_preamble(bytes, version);
  store(bytes, kHelloFlagsAt, keeps_stags ? kKeepsStags : std::uint8_t{0});
  return bytes;
}

Result<Hello, ParseError> Hello::parse(ConstBytes bytes) {
  if (bytes.size() < kSize) return failure(ParseError::kTruncated);
  if (load<std::uint32_t>(bytes, kMagicAt) != kMagic) return failure(ParseError::kBadMagic);
  const auto flags = load<std::uint8_t>(bytes, kHelloFlagsAt);
  return Hello{load<std::uint8_t>(bytes, kVersionAt), (flags & kKeepsStags) != 0};
}

std::array<std::byte, Welcome::kSize> Welcome::encode() const {
  std::array<std::byte, kSize> bytes{};
  store_preamble(bytes, version);
  store(bytes, kStatusAt, static_cast<std::uint8_t>(Status::kOk));
  store(bytes, kCreditsAt, credits);
  store(bytes, kMaxChunkAt, max_chunk);
  return bytes;
}

Result<Welcome, ParseError> Welcome::parse(ConstBytes bytes) {
  if (bytes.size() < kSize) return failure(ParseError::kTruncated);
  if (load<std::uint32_t>(bytes, kMagicAt) != kMagic) return failure(ParseError::kBadMagic);
  const auto status = static_cast<Status>(load<std::uint8_t>(bytes, kStatusAt));
  if (status != Status::kOk) return failure(ParseError::kBadStatus);
  const Welcome welcome{load<std::uint8_t>(bytes, kVersionAt),
                        load<std::uint16_t>(bytes, kCreditsAt),
                        load<std::uint32_t>(bytes, kMaxChunkAt)};
  if (welcome.version != kVersion) return failure(ParseError::kBadVersion);
  if (welcome.credits == 0 || welcome.max_chunk == 0) return failure(ParseError::kBadPayload);
  return welcome;
}

std::size_t Request::encode(MutableBytes into) const {
  std::fill_n(into.begin(), kRequestHeader, std::byte{0});
  store_preamble(into, kVersion);
  store(into, kOperationAt, static_cast<std::uint8_t>(operation));
  store(into, kHashAt, static_cast<std::uint8_t>(hash));
  store(into, kRequestIdAt, id);
  store(into, kStagAt, buffer.stag.value());
  store(into, kOffsetAt, buffer.offset);
  store(into, kBufferLengthAt, static_cast<std::uint32_t>(buffer.length));
  store(into, kRequestPayloadLengthAt, static_cast<std::uint16_t>(payload.size()));
  store(into, kRequestPositionAt, position);
  copy_payload(payload, into.data() + kRequestHeader);
  return kRequestHeader + payload.size();
}

Result<RequestView, ParseError> RequestView::parse(ConstBytes bytes) {
  if (const auto checked = check_preamble(bytes, kRequestHeader); !checked) {
    return failure(checked.error());
  }
  const RequestView view(bytes);
  if (const auto checked = view.check_fields(); !checked) return failure(checked.error());
  return view;
}

Result<void, ParseError> RequestView::check_fields() const {
  if (operation() < Operation::kOpenPut || operation() > Operation::kListMore) {
    return failure(ParseError::kBadOperation);
  }
  if (hash() > HashKind::kSha256) return failure(ParseError::kBadHash);
  const auto length = load<std::uint32_t>(bytes_, kBufferLengthAt);
  const bool length_fits =
      has_buffer(operation()) ? length >= 1 && length <= kMaxChunk : length == 0;
  if (!length_fits) return failure(ParseError::kBadBuffer);
  const std::size_t stated = load<std::uint16_t>(bytes_, kRequestPayloadLengthAt);
  if (bytes_.size() < kRequestHeader + stated) return failure(ParseError::kTruncated);
  if (bytes_.size() > kRequestHeader + stated || !payload_fits(operation(), hash(), stated)) {
    return failure(ParseError::kBadPayload);
  }
  return {};
}

Operation RequestView::operation() const {
  return static_cast<Operation>(load<std::uint8_t>(bytes_, kOperationAt));
}
HashKind RequestView::hash() const {
  return static_cast<HashKind>(load<std::uint8_t>(bytes_, kHashAt));
}
std::uint32_t RequestView::id() const { return load<std::uint32_t>(bytes_, kRequestIdAt); }
verbs::RemoteBuffer RequestView::buffer() const {
  return {Stag{load<std::uint32_t>(bytes_, kStagAt)}, load<std::uint64_t>(bytes_, kOffsetAt),
          load<std::uint32_t>(bytes_, kBufferLengthAt)};
}
std::uint64_t RequestView::position() const {
  return load<std::uint64_t>(bytes_, kRequestPositionAt);
}
ConstBytes RequestView::payload() const { return bytes_.subspan(kRequestHeader); }

std::string_view RequestView::name() const {
  return {reinterpret_cast<const char*>(payload().data()), payload().size()};
}

Digest RequestView::digest() const {
  Digest digest;
  std::memcpy(digest.data(), payload().data(), digest.size());
  return digest;
}

bool has_buffer(Operation operation) {
  return operation == Operation::kPutChunk || operation == Operation::kGetChunk ||
         operation == Operation::kList || operation == Operation::kListMore;
}

std::size_t Reply::encode(MutableBytes into) const {
  const ConstBytes text = payload.first(std::min(payload.size(), kMaxText));
  std::fill_n(into.begin(), kReplyHeader, std::byte{0});
  store_preamble(into, kVersion);
  store(into, kStatusAt, static_cast<std::uint8_t>(status));
  store(into, kReplyIdAt, id);
  store(into, kLengthAt, length);
  store(into, kReplyPositionAt, position);
  store(into, kReplyPayloadLengthAt, static_cast<std::uint16_t>(text.size()));
  copy_payload(text, into.data() + kReplyHeader);
  return kReplyHeader + text.size();
}

Result<ReplyView, ParseError> ReplyView::parse(ConstBytes bytes) {
  if (const auto checked = check_preamble(bytes, kReplyHeader); !checked) {
    return failure(checked.error());
  }
  const ReplyView view(bytes);
  if (view.status() > kLastStatus) return failure(ParseError::kBadStatus);
  const std::size_t stated = load<std::uint16_t>(bytes, kReplyPayloadLengthAt);
  if (bytes.size() < kReplyHeader + stated) return failure(ParseError::kTruncated);
  if (bytes.size() > kReplyHeader + stated) return failure(ParseError::kBadPayload);
  return view;
}

Status ReplyView::status() const {
  return static_cast<Status>(load<std::uint8_t>(bytes_, kStatusAt));
}
std::uint32_t ReplyView::id() const { return load<std::uint32_t>(bytes_, kReplyIdAt); }
std::uint32_t ReplyView::length() const { return load<std::uint32_t>(bytes_, kLengthAt); }
std::uint64_t ReplyView::position() const { return load<std::uint64_t>(bytes_, kReplyPositionAt); }
ConstBytes ReplyView::payload() const { return bytes_.subspan(kReplyHeader); }

}  // namespace iwarp::cli::file_service
