#include <algorithm>
#include <array>

#include "exchanges.hpp"
#include "rping_text.hpp"

namespace iwarp::interop {
namespace {

using Advertisement = std::array<std::byte, kAdvertisementSize>;

/// The messages of either side: one receive is always posted, one buffer is sent from.
class Talk {
 public:
  Talk(verbs::Device& device, const PeerOptions& options)
      : endpoint_(device, options),
        outgoing_region_(endpoint_.register_memory(outgoing_, verbs::Access::kNone)),
        incoming_region_(endpoint_.register_memory(incoming_, verbs::Access::kLocalWrite)) {
    endpoint_.post_receive(incoming_region_);
  }

  [[nodiscard]] PeerEndpoint& endpoint() { return endpoint_; }

  void say(const verbs::RemoteBuffer& buffer) {
    encode_advertisement(buffer, outgoing_.data());
    endpoint_.send(outgoing_region_);
  }

  verbs::RemoteBuffer hear() {
    const std::uint32_t length = endpoint_.receive();
    if (length != kAdvertisementSize) {
      throw cli::CommandError(fmt::format("the peer sent {} octets instead of 16", length));
    }
    const verbs::RemoteBuffer said = parse_advertisement(incoming_.data());
    endpoint_.post_receive(incoming_region_);
    return said;
  }

  /// None if the peer has left instead.
  std::optional<verbs::RemoteBuffer> hear_or_end() {
    try {
      return hear();
    } catch (const ConnectionEnded&) {
      return std::nullopt;
    }
  }

 private:
  Advertisement outgoing_{}, incoming_{};
  PeerEndpoint endpoint_;
  verbs::MemoryRegion outgoing_region_, incoming_region_;
};

/// Octets up to and with the first zero, as rping's server counts what it writes.
std::size_t text_length(ConstBytes buffer) {
  const auto end = std::ranges::find(buffer, std::byte{0});
  return static_cast<std::size_t>(end - buffer.begin()) + 1;
}

/// One round of the server, after the message that began it.
std::uint64_t serve_ping(Talk& talk, const verbs::MemoryRegion& memory,
                         const verbs::RemoteBuffer& source, std::uint32_t ping) {
  if (source.length == 0 || source.length > memory.size()) {
    throw cli::CommandError(fmt::format("the peer advertised {} octets", source.length));
  }
  std::fill_n(memory.data(), memory.size(), std::byte{0xAA});
  talk.endpoint().read(memory, source);
  const ConstBytes text(memory.data(), source.length);
  if (!is_ping(text, ping)) {
    throw cli::CommandError(fmt::format("ping {}: the data read is not rping's", ping));
  }
  talk.say(verbs::RemoteBuffer{});
  verbs::RemoteBuffer sink = talk.hear();
  sink.length = std::min(sink.length, static_cast<std::uint64_t>(text_length(text)));
  talk.endpoint().write(memory, sink);
  talk.say(verbs::RemoteBuffer{});
  return text.size();
}

}  // namespace

Outcome run_rping_client(verbs::Device& device, const PeerOptions& options, const PingPlan& plan) {
  std::vector<std::byte> source(plan.size), sink(plan.size);
  Talk talk(device, options);
  const auto source_region = talk.endpoint().register_memory(
      source, verbs::Access::kLocalWrite | verbs::Access::kRemoteRead);
  const auto sink_region = talk.endpoint().register_memory(
      sink, verbs::Access::kLocalWrite | verbs::Access::kRemoteWrite);
  talk.endpoint().establish(Role::kInitiator);
  for (std::uint32_t ping = 0; ping < plan.count; ++ping) {
    fill_ping(source, ping);
    std::ranges::fill(sink, std::byte{0xAA});
    talk.say(source_region.remote());
    talk.hear();  // it has read
    talk.say(sink_region.remote());
    talk.hear();  // it has written
    if (source != sink) {
      throw cli::CommandError(fmt::format("ping {}: what came back differs", ping));
    }
  }
  talk.endpoint().disconnect();
  return {talk.endpoint().info(), talk.endpoint().counters(), plan.count,
          std::uint64_t{plan.count} * plan.size};
}

Outcome run_rping_server(verbs::Device& device, const PeerOptions& options) {
  std::vector<std::byte> memory(kLargestPing + 1);
  Talk talk(device, options);
  const auto region = talk.endpoint().register_memory(memory, verbs::Access::kLocalWrite);
  talk.endpoint().establish(Role::kResponder);
  Outcome outcome{talk.endpoint().info(), {}, 0, 0};
  while (const auto source = talk.hear_or_end()) {
    outcome.octets += serve_ping(talk, region, *source, outcome.rounds);
    ++outcome.rounds;
  }
  talk.endpoint().disconnect();
  outcome.counters = talk.endpoint().counters();
  if (outcome.rounds == 0) throw cli::CommandError("the client left without a ping");
  return outcome;
}

}  // namespace iwarp::interop
