#pragma once

#include <map>
#include <set>

#include "agent/protocol.hpp"
#include "harness/tcp.hpp"
#include "harness/verdict.hpp"

namespace iwarp::conform {

/// The tester's end of the protocol of conformance/agent/PROTOCOL.md. Each call waits for its
/// answer; an `error` answer is thrown as AgentError, a lost agent as Unreachable.
struct AgentError : std::runtime_error {
  AgentError(const std::string& command, std::string error_code, const std::string& text)
      : std::runtime_error("the agent answers " + command + " with " + error_code + ": " + text),
        code(std::move(error_code)) {}
  bool is(agent_protocol::ErrorCode known) const { return code == known.text(); }
  std::string code;
};

/// The pairs of an answer.
class Answer {
 public:
  void set(std::string name, std::string value) { pairs_[std::move(name)] = std::move(value); }
  bool has(agent_protocol::AnswerPair name) const { return pairs_.contains(name.text()); }
  /// Throw Unreachable if the pair is missing or is not such a value: the agent cannot be believed.
  const std::string& text(agent_protocol::AnswerPair name) const;
  /// Decimal, or hexadecimal with 0x.
  std::uint64_t number(agent_protocol::AnswerPair name) const;
  Octets octets(agent_protocol::AnswerPair name) const;

 private:
  std::map<std::string, std::string, std::less<>> pairs_;
};

struct Region {
  std::uint64_t id = 0;
  std::uint32_t stag = 0;
  std::uint64_t address = 0;
  std::size_t size = 0;
};

struct Completion {
  std::uint64_t id = 0;
  std::string status, op;
  std::uint64_t length = 0;
  std::optional<std::uint32_t> invalidated{};
  std::optional<Octets> immediate{};
  bool solicited = false;
};

class Agent {
 public:
  /// Says hello. Throws Unreachable if nothing listens, or what listens is no agent of version 1.
  Agent(const Address& at, milliseconds timeout);

  const std::string& name() const { return name_; }
  bool has(agent_protocol::Feature feature) const { return features_.contains(feature.text()); }
  const std::set<std::string, std::less<>>& features() const { return features_; }
  /// The address under which the agent's machine sees the tester's end of the control connection.
  const ConnectionEnds& ends() const { return ends_; }
  milliseconds timeout() const { return timeout_; }

  /// Commands and answers are noted here from now on; nullptr ends that.
  void record(Transcript* transcript) { transcript_ = transcript; }

  /// Any line; `longest` is how long the agent itself may take.
  Answer call(const std::string& line, milliseconds longest = {});
  /// A command with these pairs.
  Answer call(agent_protocol::Command word, const std::string& pairs, milliseconds longest = {});

  void reset() { call("reset", ""); }
  std::uint16_t listen(const std::string& options = {});
  /// The next connection request, if it comes within `wait`; AgentError (ETIMEDOUT) if none does.
  Answer await(milliseconds wait);
  Region region(std::size_t size, const std::string& access, std::uint8_t fill = 0);
  void deregister(const Region& region);
  Octets fetch(const Region& region, std::size_t offset, std::size_t length);
  void store(const Region& region, std::size_t offset, OctetView data);

 private:
  std::string exchange(const std::string& command, milliseconds longest);
  void send_line(const std::string& line);
  std::string read_line(milliseconds longest);

  Tcp tcp_;
  milliseconds timeout_;
  ConnectionEnds ends_;
  std::string received_, name_;
  std::set<std::string, std::less<>> features_;
  Transcript* transcript_ = nullptr;
};

/// A queue pair of the agent.
class Endpoint {
 public:
  Endpoint(Agent& agent, std::uint64_t id) : agent_(&agent), id_(id) {}

  void accept(const std::string& options = {}) { call("accept", options); }
  void reject(OctetView private_data = {});
  void connect(const std::string& options = {}) { call("connect", options); }
  void receive(std::uint64_t id, const Region& region, std::size_t offset, std::size_t length);
  /// `rest`: the pairs behind id and op. Asks again if the connection is not up yet: the tester may
  /// have seen the Reply before the target's own program. Does not once disconnect() was called.
  void post(std::uint64_t id, agent_protocol::Operation op, const std::string& rest);
  void send(std::uint64_t id, const Region& region, std::size_t offset, std::size_t length,
            agent_protocol::Operation op = "send");
  void write(std::uint64_t id, const Region& region, std::size_t length, std::uint32_t stag,
             std::uint64_t address);
  void read(std::uint64_t id, const Region& region, std::size_t length, std::uint32_t stag,
            std::uint64_t address);
  std::uint32_t window(const Region& region, std::size_t offset, std::size_t length,
                       const std::string& access);
  void disconnect() {
    leaving_ = true;
    call("disconnect");
  }
  void close() { call("close"); }

  std::optional<Completion> completion(milliseconds wait);
  /// A word of agent_protocol::kEvents.
  std::string event(milliseconds wait, Answer* details = nullptr);

 private:
  Answer call(agent_protocol::Command word, const std::string& pairs = {},
              milliseconds longest = {});

  Agent* agent_;
  std::uint64_t id_;
  bool leaving_ = false;
};

std::string octet_text(OctetView octets);  ///< As the protocol writes them.
/// The pairs region, offset and length.
std::string part_of(const Region& region, std::size_t offset, std::size_t length);

}  // namespace iwarp::conform
