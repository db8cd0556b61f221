#pragma once

#include <functional>
#include <memory>

#include "harness/agent.hpp"
#include "harness/stream.hpp"

namespace iwarp::conform {

/// What a case starts a connection with.
struct LinkOptions {
  StartupFrame request;  ///< Start from Context::request().
  /// With an agent: what happens to its queue pair before the connection is accepted, such as
  /// posted receives.
  std::function<void(Endpoint&)> prepare{};
  std::string accept{};      ///< Pairs of the agent's `accept`.
  std::string listen{};      ///< Pairs of the agent's `listen`, if it shall not be as usual.
  int max_segment_size = 0;  ///< What the tester's TCP advertises, if not the usual.
};

/// An established connection: the tester's end, and the agent's if there is one.
struct Link {
  Stream stream;
  std::optional<Endpoint> endpoint;
  StartupFrame reply;  ///< Or the target's Request, if the target connected.

  Endpoint& agent_end() { return *endpoint; }
};

/// What one case works with. Made anew for each.
class Context {
 public:
  struct Target {
    std::optional<Address> address;  ///< Where it listens for iWARP; with an agent: as it says.
    Agent* agent = nullptr;
    std::string tester_address;  ///< Under which the target reaches the tester.
    std::uint8_t revision = 2;
    bool markers = false;
    Octets private_data;         ///< Of request().
    bool fixed_address = false;  ///< `address` holds even if an agent says another port.
    bool relayed = false;        ///< A relay in between ends TCP.
  };
  Context(Target target, Limits limits, Transcript& transcript);

  const Limits& limits() const { return limits_; }
  Transcript& transcript() { return transcript_; }
  void note(std::string text) { transcript_.note(std::move(text)); }

  bool has_agent() const { return target_.agent != nullptr; }
  Agent& agent();  ///< Throws Skipped if there is none.
  /// Throws Skipped unless the agent's stack has it.
  void need(agent_protocol::Feature feature);

  /// A Request as the options of the run want it: revision, markers, CRC; with revision 2 enhanced,
  /// IRD and ORD 16, not peer-to-peer.
  StartupFrame request() const;
  /// Asks for peer-to-peer with every RTR; skips with revision 1.
  StartupFrame peer_to_peer_request() const;
  std::uint8_t revision() const { return target_.revision; }

  /// A TCP connection to the target's iWARP port, nothing sent. The tester's TCP advertises this
  /// maximum segment size, or the usual one; throws Skipped if the target would not hear of it.
  Stream dial(int max_segment_size = 0);
  /// Connects, and expects the Reply to accept and to suit the Request.
  Link link() { return link({.request = request()}); }
  Link link(const LinkOptions& options);
  /// The rest of that, on a connection on which the Request has been sent.
  Link link(Stream stream, const LinkOptions& options);
  /// One more connection, after an exchange that may have broken the target: a target that takes no
  /// connection has failed.
  Link another_link();
  /// Has the agent connect to the tester: the Request that came, not yet answered. It is of the
  /// revision of the run, as far as the agent can choose, unless `dial` says another.
  struct Call {
    Stream stream;
    Endpoint endpoint;
    StartupFrame request;
  };
  Call call(const std::string& dial = {}, const std::string& connect = {});
  /// A further connection that a call leads to, if one comes within `wait`; nothing is read.
  std::optional<Stream> next_call(milliseconds wait);
  /// Answers it with `reply`; by default one that suits the Request.
  Link answer(Call call, std::optional<StartupFrame> reply = std::nullopt);
  /// The connection that `reply` makes of it, which has been sent already.
  Link answered(Call call, const StartupFrame& reply);
  StartupFrame reply_to(const StartupFrame& request) const;

  /// The agent's endpoint of the connection that the tester has just asked for; `details`: what
  /// the agent says of the Request.
  Endpoint await_endpoint(Answer* details = nullptr);
  /// Starts the agent's listener with these pairs, or as usual.
  void listen(const std::string& options = {});

  // --- expectations ---
  void expect(bool holds, const std::string& expected, const std::string& got);
  void expect_equal(std::uint64_t got, std::uint64_t expected, const std::string& what);
  void expect_equal(OctetView got, OctetView expected, const std::string& what);
  /// The octets of the region are all `fill`.
  void expect_untouched(const Region& region, std::uint8_t fill = 0);
  void expect_memory(const Region& region, std::size_t offset, OctetView expected);
  /// The next completion of `endpoint` has this id and status.
  Completion expect_completion(Endpoint& endpoint, std::uint64_t id,
                               agent_protocol::Status status = "success");
  void expect_no_completion(Endpoint& endpoint);
  /// The next event of `endpoint` is one of these; what is told with it.
  Answer expect_event(Endpoint& endpoint, const std::vector<agent_protocol::Event>& events);
  /// An ordinary connection works: nothing of others was lost.
  void expect_target_alive();

 private:
  /// If the program of the target hears of no Request, what happened on `stream` instead.
  Endpoint await_endpoint_of(Stream& stream);

  Target target_;
  Limits limits_;
  Transcript& transcript_;
  std::string listening_ = "?";
  std::unique_ptr<TcpListener> listener_;
};

/// Sets up framing as the two frames agree.
void begin_full_operation(Stream& stream, const StartupFrame& sent, const StartupFrame& received);

}  // namespace iwarp::conform
