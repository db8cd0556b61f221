#include <algorithm>
#include <array>
#include <string_view>

#include "exchanges.hpp"

namespace iwarp::interop {
namespace {

constexpr std::string_view kText = "iwarp-peer sends";
constexpr std::size_t kMessage = 16;
static_assert(kText.size() == kMessage);

using Message = std::array<std::byte, kMessage>;

Message text_message() {
  Message message;
  std::ranges::transform(kText, message.begin(), [](char c) { return static_cast<std::byte>(c); });
  return message;
}

void check(std::uint32_t length, const Message& message) {
  if (length != kMessage) {
    throw cli::CommandError(fmt::format("the peer sent {} octets instead of 16", length));
  }
  if (message != Message{} && message != text_message()) {
    throw cli::CommandError("the peer's 16 octets are neither zeros nor iwarp-peer's text");
  }
}

}  // namespace

Outcome run_rdma_pair(verbs::Device& device, const PeerOptions& options, Role role) {
  Message outgoing = text_message();
  Message incoming;
  incoming.fill(std::byte{0xAA});
  PeerEndpoint endpoint(device, options);
  const auto source = endpoint.register_memory(outgoing, verbs::Access::kNone);
  const auto sink = endpoint.register_memory(incoming, verbs::Access::kLocalWrite);
  endpoint.post_receive(sink);
  endpoint.establish(role);
  if (role == Role::kInitiator) endpoint.send(source);
  check(endpoint.receive(), incoming);
  if (role == Role::kResponder) endpoint.send(source);
  endpoint.disconnect();
  return {endpoint.info(), endpoint.counters(), 1, kMessage};
}

}  // namespace iwarp::interop
