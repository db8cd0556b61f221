#pragma once

#include <functional>

#include "harness/case.hpp"

namespace iwarp::conform {

enum class Verdict {
  kPass,
  kFail,
  kSkip,       ///< Does not apply; the reason is told.
  kDeparture,  ///< Fails as the table of the target's departures says.
  kError,      ///< The target or the agent was lost, or the tester itself stumbled.
};
std::string_view name_of(Verdict verdict);

struct Result {
  Case test;
  Verdict verdict = Verdict::kError;
  std::string text{};             ///< Why; empty for kPass.
  std::string expected{}, got{};  ///< kFail and kDeparture.
  bool out_of_reach = false;      ///< kError: the target did not answer at its address.
  Clock::duration duration{};
  Transcript transcript{};
};

/// A target and how to run cases against it.
struct Plan {
  std::optional<Address> target;
  std::optional<Address> agent;
  std::string tester_address;
  std::uint8_t revision = 2;
  bool markers = false;
  bool relayed = false;   ///< A relay between tester and target ends TCP.
  Octets private_data{};  ///< Of every ordinary Request, for targets that want to see some.
  Limits limits;
  /// Called when the agent is lost: brings it back, if that can be done, and says where it is.
  std::function<std::optional<Address>()> revive{};
};

/// Runs cases one after the other. A case that fails, and a target that breaks, do not keep the
/// next one from being tried.
class Runner {
 public:
  /// Says hello to the agent, if there is one. Throws Unreachable.
  explicit Runner(Plan plan);
  ~Runner();

  Result run(const Case& test);
  const Agent* agent() const { return agent_.get(); }

 private:
  void judge(Result& result);
  void find_agent(Transcript& transcript);
  /// Ends what the case has made; an agent that is lost by then has broken in it.
  void clear_up(Result& result);

  Plan plan_;
  std::unique_ptr<Agent> agent_;
};

}  // namespace iwarp::conform
