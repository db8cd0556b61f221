#include "perf/messages.hpp"

#include <spdlog/fmt/fmt.h>

#include <cstring>

#include "text/utf8.hpp"

namespace iwarp::cli::perf {
namespace {

// Header of the Greeting and of every control message: magic, version, one octet more.
constexpr std::size_t kMagicAt = 0;
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kKindAt = 5;

constexpr std::size_t kGreetingMarkersAt = 5;
constexpr std::size_t kGreetingDepthAt = 8;
constexpr std::size_t kGreetingSize = 12;

using Reason = Refused::Reason;

constexpr std::chrono::nanoseconds kLongestSlice = std::chrono::minutes(10);

bool has_header(ConstBytes bytes) {
  return load_be<std::uint32_t>(bytes.data() + kMagicAt) == kMagic &&
         load_be<std::uint8_t>(bytes.data() + kVersionAt) == kProtocolVersion;
}

void put_header(std::byte* at) {
  store_be<std::uint32_t>(at + kMagicAt, kMagic);
  store_be<std::uint8_t>(at + kVersionAt, kProtocolVersion);
}

template <typename Enum>
void put_enum(std::byte* at, Enum value) {
  store_be<std::uint8_t>(at, static_cast<std::uint8_t>(value));
}

template <typename Enum>
Enum get_enum(const std::byte* at) {
  return static_cast<Enum>(load_be<std::uint8_t>(at));
}

// A buffer descriptor: STag, four octets of zero, Tagged Offset, length.
constexpr std::size_t kBufferSize = 24;

void put_buffer(std::byte* at, const verbs::RemoteBuffer& buffer) {
  store_be<std::uint32_t>(at, buffer.stag.value());
  store_be<std::uint64_t>(at + 8, buffer.offset);
  store_be<std::uint64_t>(at + 16, buffer.length);
}

verbs::RemoteBuffer get_buffer(const std::byte* at) {
  return {Stag{load_be<std::uint32_t>(at)}, load_be<std::uint64_t>(at + 8),
          load_be<std::uint64_t>(at + 16)};
}

void put_time(std::byte* at, std::chrono::nanoseconds time) {
  store_be<std::uint64_t>(at, static_cast<std::uint64_t>(time.count()));
}

std::chrono::nanoseconds get_time(const std::byte* at) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(load_be<std::uint64_t>(at)));
}

}  // namespace

Result<Greeting, Refused> Greeting::parse(ConstBytes private_data) {
  const bool ours = private_data.size() > kVersionAt &&
                    load_be<std::uint32_t>(private_data.data() + kMagicAt) == kMagic;
  if (!ours) return failure(Refused{Reason::kBadRequest, "the request is not one of 'iwarp perf'"});
  const auto version = load_be<std::uint8_t>(private_data.data() + kVersionAt);
  if (version != kProtocolVersion) {
    return failure(Refused{Reason::kBadVersion,
                           fmt::format("the client speaks version {} of the protocol of 'iwarp "
                                       "perf', and the server version {}",
                                       version, kProtocolVersion)});
  }
  if (private_data.size() != kGreetingSize) {
    return failure(Refused{Reason::kBadRequest, "the request has not the right length"});
  }
  Greeting greeting;
  greeting.depth = load_be<std::uint32_t>(private_data.data() + kGreetingDepthAt);
  greeting.markers = get_enum<Markers>(private_data.data() + kGreetingMarkersAt);
  if (greeting.depth < 1 || greeting.depth > kMaxDepth) {
    return failure(Refused{Reason::kBadRequest, fmt::format("the depth is {}, and not 1 to {}",
                                                            greeting.depth, kMaxDepth)});
  }
  if (greeting.markers > Markers::kWanted) {
    return failure(Refused{Reason::kBadRequest, "what the client says of markers is unknown"});
  }
  return greeting;
}

std::vector<std::byte> Greeting::encode() const {
  std::vector<std::byte> bytes(kGreetingSize);
  put_header(bytes.data());
  put_enum(bytes.data() + kGreetingMarkersAt, markers);
  store_be<std::uint32_t>(bytes.data() + kGreetingDepthAt, depth);
  return bytes;
}

std::optional<Proposal> Proposal::parse_body(const std::byte* body) {
  Proposal proposal;
  proposal.workload.operation = get_enum<Operation>(body);
  proposal.workload.figure = get_enum<Figure>(body + 1);
  proposal.workload.waiting = get_enum<Waiting>(body + 2);
  proposal.workload.baseline = get_enum<Baseline>(body + 3);
  proposal.workload.size = load_be<std::uint32_t>(body + 4);
  proposal.workload.depth = load_be<std::uint32_t>(body + 8);
  proposal.target = get_buffer(body + 16);
  return is_valid(proposal.workload) ? std::optional(proposal) : std::nullopt;
}

void Proposal::encode_body(std::byte* body) const {
  put_enum(body, workload.operation);
  put_enum(body + 1, workload.figure);
  put_enum(body + 2, workload.waiting);
  put_enum(body + 3, workload.baseline);
  store_be<std::uint32_t>(body + 4, workload.size);
  store_be<std::uint32_t>(body + 8, workload.depth);
  put_buffer(body + 16, target);
}

std::optional<Ready> Ready::parse_body(const std::byte* body) {
  Ready ready;
  ready.target = get_buffer(body);
  ready.window = load_be<std::uint32_t>(body + kBufferSize);
  ready.baseline_port = load_be<std::uint16_t>(body + kBufferSize + 4);
  ready.token = load_be<std::uint64_t>(body + kBufferSize + 8);
  return ready.window >= 1 ? std::optional(ready) : std::nullopt;
}

void Ready::encode_body(std::byte* body) const {
  put_buffer(body, target);
  store_be<std::uint32_t>(body + kBufferSize, window);
  store_be<std::uint16_t>(body + kBufferSize + 4, baseline_port);
  store_be<std::uint64_t>(body + kBufferSize + 8, token);
}

// Reason, octets of the text, the text.
static_assert(detail::kBody + 2 + Refused::kMaxText == kControlSize);

std::optional<Refused> Refused::parse_body(const std::byte* body) {
  const std::size_t length = load_be<std::uint8_t>(body + 1);
  Refused refused{get_enum<Reason>(body), {}};
  if (length > kMaxText) return refused;
  refused.text = printable({reinterpret_cast<const char*>(body + 2), length});
  return refused;
}

void Refused::encode_body(std::byte* body) const {
  const std::string_view said = cut(text, kMaxText);
  put_enum(body, reason);
  store_be(body + 1, static_cast<std::uint8_t>(said.size()));
  if (!said.empty()) std::memcpy(body + 2, said.data(), said.size());
}

const char* words_for(std::uint8_t reason) {
  switch (static_cast<Reason>(reason)) {
    case Reason::kNoMemory: return "the server has not enough memory for that";
    case Reason::kNoBaseline: return "the server cannot listen for the raw connection";
    case Reason::kBadRequest: return "the server did not understand the request";
    case Reason::kBadVersion: return "the server speaks another version of the protocol";
    case Reason::kBusy: return "the server has as many clients as it takes";
    case Reason::kNoMeans: return "the server has no room for that";
    case Reason::kEnded: return "the server ended";
  }
  return nullptr;
}

std::optional<Start> Start::parse_body(const std::byte* body) {
  const Start start{get_enum<Flow>(body), get_time(body + 8)};
  const bool valid = (start.flow == Flow::kOurs || start.flow == Flow::kRawTcp) &&
                     start.duration.count() > 0 && start.duration <= kLongestSlice;
  return valid ? std::optional(start) : std::nullopt;
}

void Start::encode_body(std::byte* body) const {
  put_enum(body, flow);
  put_time(body + 8, duration);
}

std::optional<Report> Report::parse_body(const std::byte* body) {
  return Report{load_be<std::uint64_t>(body), get_time(body + 8), get_time(body + 16)};
}

void Report::encode_body(std::byte* body) const {
  store_be<std::uint64_t>(body, messages);
  put_time(body + 8, process_time);
  put_time(body + 16, thread_time);
}

std::optional<Credit> Credit::parse_body(const std::byte* body) {
  return Credit{load_be<std::uint64_t>(body)};
}

void Credit::encode_body(std::byte* body) const { store_be<std::uint64_t>(body, taken); }

std::optional<Kind> control_kind(ConstBytes message) {
  if (message.size() != kControlSize || !has_header(message)) return std::nullopt;
  return get_enum<Kind>(message.data() + kKindAt);
}

ControlBytes detail::with_header(Kind kind) {
  ControlBytes bytes{};
  put_header(bytes.data());
  put_enum(bytes.data() + kKindAt, kind);
  return bytes;
}

}  // namespace iwarp::cli::perf
