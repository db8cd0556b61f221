#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/verbs/types.hpp"
#include "perf/workload.hpp"
#include "start_up/rejection.hpp"

/// What the two ends of `iwarp perf` say to each other: a Greeting in the private data of the MPA
/// start-up frames, and then Sends of exactly kControlSize octets. All numbers are in network byte
/// order; everything begins with the magic and the version.
namespace iwarp::cli::perf {

inline constexpr auto kMagic = static_cast<std::uint32_t>(Service::kPerf);
inline constexpr std::uint8_t kProtocolVersion = 1;
inline constexpr std::size_t kControlSize = 64;

using ControlBytes = std::array<std::byte, kControlSize>;

enum class Kind : std::uint8_t {
  kProposal = 1,
  kReady,
  kRefused,
  kStart,
  kGo,
  kStop,
  kReport,
  kCredit
};

enum class Markers : std::uint8_t { kNone = 0, kWanted = 1 };

/// Server: it will not measure that. Before there is a connection it says so in a Rejection
/// (start_up/rejection.hpp), whose code is a Reason; behind it while the client waits for an
/// answer.
struct Refused {
  static constexpr Kind kKind = Kind::kRefused;
  enum class Reason : std::uint8_t {
    kNoMemory = 1,
    kNoBaseline = 2,
    kBadRequest = 3,
    kBadVersion = 4,
    kBusy = 5,
    kNoMeans = 6,  ///< Its device or its system has no room for what the client wants.
    kEnded = 7,
  };
  /// The most octets of the text.
  static constexpr std::size_t kMaxText = 54;

  Reason reason = Reason::kNoMemory;
  std::string text;  ///< For people, as that of a Rejection. What is too long is cut.

  static std::optional<Refused> parse_body(const std::byte* body);
  void encode_body(std::byte* body) const;
};
/// What a reason means, as a clause; nullptr for one that is not known.
const char* words_for(std::uint8_t reason);

/// What a client says before the connection exists, so that the server can make a queue pair.
struct Greeting {
  std::uint32_t depth = 0;
  Markers markers = Markers::kNone;

  /// Or why the server refuses the client.
  static Result<Greeting, Refused> parse(ConstBytes private_data);
  [[nodiscard]] std::vector<std::byte> encode() const;
};

/// Client: what will be measured. `target` is the client's memory for the server's Writes.
struct Proposal {
  static constexpr Kind kKind = Kind::kProposal;
  Workload workload;
  verbs::RemoteBuffer target;

  static std::optional<Proposal> parse_body(const std::byte* body);
  void encode_body(std::byte* body) const;
};

/// Server: its memory for the client's Writes and Reads, how many Sends it has receives for, and
/// where it waits for the raw TCP connection that begins with `token`.
struct Ready {
  static constexpr Kind kKind = Kind::kReady;
  verbs::RemoteBuffer target;
  std::uint32_t window = 0;
  std::uint16_t baseline_port = 0;
  std::uint64_t token = 0;

  static std::optional<Ready> parse_body(const std::byte* body);
  void encode_body(std::byte* body) const;
};

/// Client: a slice of the measurement begins. Server: Go.
struct Start {
  static constexpr Kind kKind = Kind::kStart;
  Flow flow = Flow::kOurs;
  std::chrono::nanoseconds duration{};

  static std::optional<Start> parse_body(const std::byte* body);
  void encode_body(std::byte* body) const;
};

struct Go {
  static constexpr Kind kKind = Kind::kGo;
  static std::optional<Go> parse_body(const std::byte*) { return Go{}; }
  void encode_body(std::byte*) const {}
};

/// Client: everything of the slice has been sent. The server answers with its Report.
struct Stop {
  static constexpr Kind kKind = Kind::kStop;
  static std::optional<Stop> parse_body(const std::byte*) { return Stop{}; }
  void encode_body(std::byte*) const {}
};

/// Server: messages it has seen in the slice (0 where it cannot see them), processor time of its
/// process and of the measuring thread alone.
struct Report {
  static constexpr Kind kKind = Kind::kReport;
  std::uint64_t messages = 0;
  std::chrono::nanoseconds process_time{}, thread_time{};

  static std::optional<Report> parse_body(const std::byte* body);
  void encode_body(std::byte* body) const;
};

/// Receiver of a stream of Sends: how many of the slice it has taken, receives posted again.
struct Credit {
  static constexpr Kind kKind = Kind::kCredit;
  std::uint64_t taken = 0;

  static std::optional<Credit> parse_body(const std::byte* body);
  void encode_body(std::byte* body) const;
};

/// The kind of a control message; none for anything else, such as measured data.
std::optional<Kind> control_kind(ConstBytes message);

namespace detail {
inline constexpr std::size_t kBody = 8;
ControlBytes with_header(Kind kind);
}  // namespace detail

template <typename Message>
ControlBytes encode(const Message& message) {
  ControlBytes bytes = detail::with_header(Message::kKind);
  message.encode_body(bytes.data() + detail::kBody);
  return bytes;
}

/// The message, if `bytes` is one of that kind and its fields make sense.
template <typename Message>
std::optional<Message> parse(ConstBytes bytes) {
  if (control_kind(bytes) != Message::kKind) return std::nullopt;
  return Message::parse_body(bytes.data() + detail::kBody);
}

}  // namespace iwarp::cli::perf
