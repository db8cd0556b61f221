#include "harness/context.hpp"

#include <algorithm>

namespace iwarp::conform {

void begin_full_operation(Stream& stream, const StartupFrame& sent, const StartupFrame& received) {
  stream.begin_full_operation(framing_to(received, sent), framing_to(sent, received));
}

Context::Context(Target target, Limits limits, Transcript& transcript)
    : target_(std::move(target)), limits_(limits), transcript_(transcript) {}

Agent& Context::agent() {
  if (target_.agent == nullptr) throw Skipped("needs an agent on the target");
  return *target_.agent;
}

void Context::need(agent_protocol::Feature feature) {
  if (!agent().has(feature)) {
    throw Skipped("the target's agent has no " + std::string(feature));
  }
}

StartupFrame Context::request() const {
  StartupFrame frame;
  frame.flags = static_cast<std::uint8_t>(kFlagCrc | (target_.markers ? kFlagMarkers : 0));
  frame.revision = target_.revision;
  frame.private_data = target_.private_data;
  if (target_.revision >= 2) {
    frame.flags |= kFlagEnhanced;
    frame.enhanced = EnhancedData{.ird = 16, .ord = 16};
  }
  return frame;
}

StartupFrame Context::peer_to_peer_request() const {
  if (target_.revision < 2) throw Skipped("peer-to-peer set-up needs revision 2");
  StartupFrame frame = request();
  frame.enhanced->peer_to_peer = frame.enhanced->send_rtr = true;
  frame.enhanced->write_rtr = frame.enhanced->read_rtr = true;
  return frame;
}

Stream Context::dial(int max_segment_size) {
  if (max_segment_size != 0 && target_.relayed) {
    throw Skipped("the tester's segment size does not reach the target");
  }
  if (!target_.address) listen();
  return {Tcp::connect(*target_.address, limits_.timeout, max_segment_size), true, transcript_,
          limits_};
}

void Context::listen(const std::string& options) {
  if (target_.agent == nullptr || listening_ == options) return;
  const std::uint16_t port = target_.agent->listen(options);
  listening_ = options;
  if (!target_.fixed_address) {
    target_.address = Address{target_.agent->ends().target_address, port};
  }
}

Endpoint Context::await_endpoint(Answer* details) {
  const Answer answer = agent().await(limits_.timeout);
  if (details != nullptr) *details = answer;
  return {agent(), answer.number("endpoint")};
}

Endpoint Context::await_endpoint_of(Stream& stream) {
  try {
    return await_endpoint();
  } catch (const AgentError& error) {
    if (!error.is("ETIMEDOUT")) throw;
  }
  const auto reply = stream.expect_reply_or_end();
  throw Failure("the Request to reach the target's program",
                !reply ? "the end of the connection"
                       : (reply->rejected() ? "a rejection" : "a Reply without its leave"));
}

Link Context::link(const LinkOptions& options) {
  listen(options.listen);
  Stream stream = dial(options.max_segment_size);
  stream.send(options.request);
  return link(std::move(stream), options);
}

Link Context::link(Stream stream, const LinkOptions& options) {
  std::optional<Endpoint> endpoint;
  if (has_agent()) {
    endpoint = await_endpoint_of(stream);
    if (options.prepare) options.prepare(*endpoint);
    endpoint->accept(options.accept);
  }
  StartupFrame reply = stream.expect_reply();
  expect(!reply.rejected(), "a Reply that accepts", "a rejection");
  begin_full_operation(stream, options.request, reply);
  return {.stream = std::move(stream), .endpoint = endpoint, .reply = std::move(reply)};
}

Link Context::another_link() {
  note("the target still serves others:");
  listen();
  Stream stream = [&] {
    try {
      return dial();
    } catch (const Unreachable& error) {
      throw Failure("a listener that still takes connections", error.what());
    }
  }();
  const LinkOptions usual{.request = request()};
  stream.send(usual.request);
  return link(std::move(stream), usual);
}

Context::Call Context::call(const std::string& dial, const std::string& connect) {
  if (!listener_)
    listener_ = std::make_unique<TcpListener>(
        target_.tester_address.empty() ? agent().ends().tester_address : "");
  const std::string& address =
      target_.tester_address.empty() ? agent().ends().tester_address : target_.tester_address;
  std::string options = dial.empty() ? "" : ' ' + dial;
  if (target_.revision == 1 && agent().has("mpa") && dial.find("revision=") == std::string::npos) {
    options += " revision=1";
  }
  const Answer answer = agent().call(
      "dial", "address=" + address + " port=" + std::to_string(listener_->port()) + options,
      limits_.timeout);
  Endpoint endpoint(agent(), answer.number("endpoint"));
  endpoint.connect(connect);
  auto tcp = listener_->accept(limits_.timeout);
  if (!tcp) throw Failure("a TCP connection from the target", "none");
  Stream stream(std::move(*tcp), false, transcript_, limits_);
  StartupFrame request = stream.expect_request();
  return {.stream = std::move(stream), .endpoint = endpoint, .request = std::move(request)};
}

std::optional<Stream> Context::next_call(milliseconds wait) {
  auto tcp = listener_->accept(wait);
  if (!tcp) return std::nullopt;
  return Stream(std::move(*tcp), false, transcript_, limits_);
}

StartupFrame Context::reply_to(const StartupFrame& request) const {
  StartupFrame reply;
  reply.key = octets(kReplyKey);
  reply.revision = request.revision;
  reply.flags = static_cast<std::uint8_t>(kFlagCrc | (target_.markers ? kFlagMarkers : 0) |
                                          (request.flags & kFlagEnhanced));
  if (const auto& asked = request.enhanced) {
    EnhancedData data = *asked;
    data.ird = std::max<std::uint16_t>(asked->ord, 1);
    data.ord = asked->ird;
    if (asked->ord == kDepthNotStated) data.ird = 16;
    if (asked->ird == kDepthNotStated) data.ord = 16;
    reply.enhanced = data;
  }
  return reply;
}

Link Context::answer(Call call, std::optional<StartupFrame> reply) {
  if (!reply) reply = reply_to(call.request);
  call.stream.send(*reply);
  return answered(std::move(call), *reply);
}

Link Context::answered(Call call, const StartupFrame& reply) {
  begin_full_operation(call.stream, reply, call.request);
  return {.stream = std::move(call.stream),
          .endpoint = call.endpoint,
          .reply = std::move(call.request)};
}

void Context::expect(bool holds, const std::string& expected, const std::string& got) {
  if (!holds) throw Failure(expected, got);
  transcript_.add({.kind = Event::Kind::kExpectation, .text = expected});
}

void Context::expect_equal(std::uint64_t got, std::uint64_t expected, const std::string& what) {
  expect(got == expected, what + " = " + std::to_string(expected), std::to_string(got));
}

void Context::expect_equal(OctetView got, OctetView expected, const std::string& what) {
  if (std::equal(got.begin(), got.end(), expected.begin(), expected.end())) {
    transcript_.add({.kind = Event::Kind::kExpectation, .text = what});
    return;
  }
  if (got.size() != expected.size()) {
    throw Failure(what + ": " + count_of(expected.size()), std::to_string(got.size()));
  }
  const auto at = std::mismatch(got.begin(), got.end(), expected.begin()).first - got.begin();
  throw Failure(what, "another octet at offset " + std::to_string(at) + ": " +
                          hex_number(got[static_cast<std::size_t>(at)], 2) + " instead of " +
                          hex_number(expected[static_cast<std::size_t>(at)], 2));
}

void Context::expect_memory(const Region& region, std::size_t offset, OctetView expected) {
  expect_equal(agent().fetch(region, offset, expected.size()), expected,
               "what was placed is what was sent");
}

void Context::expect_untouched(const Region& region, std::uint8_t fill) {
  expect_equal(agent().fetch(region, 0, region.size), Octets(region.size, fill),
               "nothing was placed");
}

Completion Context::expect_completion(Endpoint& endpoint, std::uint64_t id,
                                      agent_protocol::Status status) {
  const auto completion = endpoint.completion(limits_.timeout);
  const std::string what =
      "completion " + std::to_string(id) + " with status " + std::string(status);
  if (!completion) throw Failure(what, "none");
  expect(completion->id == id && completion->status == status.text(), what,
         "completion " + std::to_string(completion->id) + " with status " + completion->status);
  return *completion;
}

void Context::expect_no_completion(Endpoint& endpoint) {
  const auto completion = endpoint.completion(limits_.quiet);
  expect(!completion, "no completion",
         completion
             ? "completion " + std::to_string(completion->id) + " with status " + completion->status
             : "");
}

Answer Context::expect_event(Endpoint& endpoint, const std::vector<agent_protocol::Event>& events) {
  std::string what = "the event ";
  for (const agent_protocol::Event& event : events) {
    what.append(&event == &events.front() ? "" : " or ").append(event.text());
  }
  Answer details;
  const std::string got = endpoint.event(limits_.timeout, &details);
  expect(std::ranges::find(events, got, &agent_protocol::Event::text) != events.end(), what, got);
  return details;
}

void Context::expect_target_alive() {
  Link other = another_link();
  other.stream.write(0, 0, {});
  other.stream.expect_quiet("an empty Write is nothing to answer");
}

}  // namespace iwarp::conform
