#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/verbs/types.hpp"
#include "start_up/rejection.hpp"

/// The messages of `iwarp serve`. The client greets in the private data of its MPA request and is
/// welcomed or rejected in the private data of the reply. Then it sends requests; each is one
/// RDMAP Send and has exactly one final answer, in order. A request may carry the descriptor of a
/// buffer of the client: the server moves the data by RDMA Read or Write, and its answer is a Send
/// with Invalidate that ends the buffer's STag, unless the client keeps its STags. The client has
/// at most as many requests under way as the welcome's credits say. All integers are in network
/// byte order; bytes that no field covers are sent as zero and ignored.
///
///     put:  OpenPut, PutChunk*, Commit       get:  OpenGet, GetChunk*, Finish
///     list: List, ListMore*
namespace iwarp::cli::file_service {

inline constexpr auto kMagic = static_cast<std::uint32_t>(Service::kFiles);
inline constexpr std::uint8_t kVersion = 1;

/// The longest name, in octets.
inline constexpr std::size_t kMaxName = 1024;
/// The most octets that one request moves.
inline constexpr std::uint32_t kMaxChunk = 1U << 20;
inline constexpr std::size_t kMaxRequest = 40 + kMaxName;
inline constexpr std::size_t kMaxText = 128;
inline constexpr std::size_t kMaxReply = 32 + kMaxText;

/// What a request asks for.
enum class Operation : std::uint8_t {
  kOpenPut = 1,   ///< Start to replace `name` with a file of `position` octets.
  kPutChunk = 2,  ///< Read the buffer and append it at `position`, the octets put so far.
  kCommit = 3,    ///< The file is whole; its digest. The name appears before the answer.
  kOpenGet = 4,   ///< Start to get `name`; the answer's position is its size.
  kGetChunk = 5,  ///< Write the file's octets from `position` into the buffer.
  kFinish = 6,    ///< All octets came; the answer holds their digest.
  kList = 7,      ///< Write entries whose name starts with `name` into the buffer.
  kListMore = 8,  ///< Go on where the last List or ListMore ended.
};

/// Whether both ends compute a digest of the file, and which.
enum class HashKind : std::uint8_t { kNone = 0, kSha256 = 1 };
using Digest = std::array<std::byte, 32>;

/// The end of a request.
enum class Status : std::uint8_t {
  kOk = 0,
  kWorking = 1,  ///< Not final: go on waiting. Servers that only write empty signs of life do not
                 ///< send it.
  kBadRequest = 2,
  kBadVersion = 3,
  kBusy = 4,
  kBadName = 5,
  kNotFound = 6,
  kNotAFile = 7,
  kDenied = 8,
  kSymbolicLink = 9,
  kNoSpace = 10,
  kTooLarge = 11,
  kInputOutput = 12,
  kHashMismatch = 13,
  kChanged = 14,
  kEnded = 15,  ///< The server takes no more requests, or clients.
};
inline constexpr auto kLastStatus = Status::kEnded;

/// What a status says, as the end of a sentence: "no such file on the server".
const char* describe(Status status);

/// Why bytes are not a message.
enum class ParseError : std::uint8_t {
  kTruncated,
  kBadMagic,
  kBadVersion,
  kBadOperation,
  kBadHash,
  kBadStatus,
  kBadBuffer,
  kBadPayload,
};
const char* describe(ParseError error);

/// The client's private data: the protocol's name, its version, and what the client cannot do.
struct Hello {
  static constexpr std::size_t kSize = 8;
  std::uint8_t version = kVersion;
  bool keeps_stags = false;  ///< Its device has no regions that a peer may invalidate.

  [[nodiscard]] std::array<std::byte, kSize> encode() const;
  /// A hello of any version. Trailing bytes are a later version's business.
  static Result<Hello, ParseError> parse(ConstBytes bytes);
};

/// The server's private data where it accepts: the limits. Where it does not, it says so in a
/// Rejection (start_up/rejection.hpp), whose code is a Status.
struct Welcome {
  static constexpr std::size_t kSize = 12;
  std::uint8_t version = kVersion;
  std::uint16_t credits = 0;
  std::uint32_t max_chunk = 0;

  [[nodiscard]] std::array<std::byte, kSize> encode() const;
  /// Credits and max_chunk are at least 1.
  static Result<Welcome, ParseError> parse(ConstBytes bytes);
};

/// A request to be encoded.
struct Request {
  Operation operation = Operation::kOpenPut;
  HashKind hash = HashKind::kNone;
  std::uint32_t id = 0;
  verbs::RemoteBuffer buffer{};  ///< Chunks and listings: at most kMaxChunk octets.
  std::uint64_t position = 0;
  ConstBytes payload{};  ///< The name, or the digest of a Commit.

  /// Encodes into `into`, at least kMaxRequest octets; returns the length. Precondition: the
  /// payload is at most kMaxName octets.
  std::size_t encode(MutableBytes into) const;
};

/// A request that has the right form: accessors cannot fail. Refers to the parsed bytes.
class RequestView {
 public:
  /// Also checks that buffer and payload fit the operation: 1 to kMaxChunk octets for those that
  /// move data, a digest for a Commit with a hash, no payload where none belongs.
  static Result<RequestView, ParseError> parse(ConstBytes bytes);

  [[nodiscard]] Operation operation() const;
  [[nodiscard]] HashKind hash() const;
  [[nodiscard]] std::uint32_t id() const;
  [[nodiscard]] verbs::RemoteBuffer buffer() const;
  [[nodiscard]] std::uint64_t position() const;
  /// Any bytes: whether the name is safe is the store's question.
  [[nodiscard]] std::string_view name() const;
  /// Precondition: a Commit with kSha256.
  [[nodiscard]] Digest digest() const;

 private:
  explicit RequestView(ConstBytes bytes) : bytes_(bytes) {}
  [[nodiscard]] ConstBytes payload() const;
  [[nodiscard]] Result<void, ParseError> check_fields() const;

  ConstBytes bytes_;
};

/// Whether a request carries the descriptor of a buffer, which its answer may invalidate.
bool has_buffer(Operation operation);

/// An answer to be encoded.
struct Reply {
  Status status = Status::kOk;
  std::uint32_t id = 0;
  std::uint32_t length = 0;    ///< Octets moved; of a listing 0 at its end.
  std::uint64_t position = 0;  ///< OpenGet: the file's size.
  ConstBytes payload{};        ///< A digest, or the server's words about a failure.

  /// Encodes into `into`, at least kMaxReply octets; returns the length. A payload beyond kMaxText
  /// octets is cut.
  std::size_t encode(MutableBytes into) const;
};

/// An answer that has the right form. Refers to the parsed bytes.
class ReplyView {
 public:
  static Result<ReplyView, ParseError> parse(ConstBytes bytes);

  [[nodiscard]] Status status() const;
  [[nodiscard]] std::uint32_t id() const;
  [[nodiscard]] std::uint32_t length() const;
  [[nodiscard]] std::uint64_t position() const;
  [[nodiscard]] ConstBytes payload() const;

 private:
  explicit ReplyView(ConstBytes bytes) : bytes_(bytes) {}

  ConstBytes bytes_;
};

}  // namespace iwarp::cli::file_service
