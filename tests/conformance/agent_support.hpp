#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "agent/agent_server.hpp"
#include "harness/context.hpp"

namespace iwarp::conform {

/// An agent of our own stack on a thread of the test.
class RunningAgent {
 public:
  explicit RunningAgent(agent::ServerOptions options = {})
      : server_(verbs::Device::open().value(), prepared(std::move(options))), thread_([this] {
          server_.run();
          ended_ = true;
        }) {}
  RunningAgent(const RunningAgent&) = delete;
  RunningAgent& operator=(const RunningAgent&) = delete;
  ~RunningAgent() { stop_ = true; }

  [[nodiscard]] Address address() const { return {"127.0.0.1", server_.endpoint().port()}; }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  agent::ServerOptions prepared(agent::ServerOptions options) {
    options.listen = {verbs::Address::loopback(), 0};
    options.stopped = [this] { return stop_.load(); };
    return options;
  }

  std::atomic<bool> stop_{false}, ended_{false};
  agent::Server server_;
  std::jthread thread_;
};

inline constexpr milliseconds kPatience{5000};
inline constexpr Limits kLimits{.timeout = kPatience, .quiet = milliseconds(50)};

inline Context::Target target_of(Agent& agent) {
  Context::Target target;
  target.agent = &agent;
  return target;
}

/// A tester with an agent, as a case has them.
class AgentTest : public ::testing::Test {
 protected:
  RunningAgent running_;
  Agent agent_{running_.address(), kPatience};
  Transcript transcript_;
  Context context_{target_of(agent_), kLimits, transcript_};

  /// An established connection on which the agent may send: a responder of MPA waits for the first
  /// FPDU of the initiator.
  Link open_link(std::function<void(Endpoint&)> prepare = {}) {
    Link link = context_.link({.request = context_.request(), .prepare = std::move(prepare)});
    link.stream.write(0, 0, {});
    return link;
  }
  Completion completion_of(Endpoint& endpoint) {
    const auto completion = endpoint.completion(kPatience);
    EXPECT_TRUE(completion.has_value()) << "no completion";
    return completion.value_or(Completion{});
  }
};

}  // namespace iwarp::conform
