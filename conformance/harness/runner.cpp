#include "harness/runner.hpp"

namespace iwarp::conform {

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass: return "pass";
    case Verdict::kFail: return "fail";
    case Verdict::kSkip: return "skip";
    case Verdict::kDeparture: return "departure";
    case Verdict::kError: return "error";
  }
  return "error";
}

Runner::Runner(Plan plan) : plan_(std::move(plan)) {
  if (plan_.agent) agent_ = std::make_unique<Agent>(*plan_.agent, plan_.limits.timeout);
}

Runner::~Runner() = default;

// An agent that broke off is looked for again.
void Runner::find_agent(Transcript& transcript) {
  if (!plan_.agent) return;
  if (!agent_) {
    if (plan_.revive) plan_.agent = plan_.revive();
    if (!plan_.agent) throw Unreachable("the agent is gone");
    agent_ = std::make_unique<Agent>(*plan_.agent, plan_.limits.timeout);
  }
  agent_->record(&transcript);
}

void Runner::clear_up(Result& result) {
  if (!agent_) return;
  try {
    agent_->reset();
    agent_->record(nullptr);
  } catch (const std::runtime_error& error) {
    agent_.reset();
    result.verdict = Verdict::kFail;
    const std::string text = std::string("the target broke: ") + error.what();
    result.text += (result.text.empty() ? "" : "; ") + text;
    if (!result.expected.empty()) result.got += "; " + text;
    result.transcript.add({.kind = Event::Kind::kFailure, .text = text});
  }
}

void Runner::judge(Result& result) {
  const auto conclude = [&](Verdict verdict, const std::string& text) {
    result.verdict = verdict;
    result.text = text;
    if (verdict != Verdict::kPass) {
      result.transcript.add({.kind = Event::Kind::kFailure, .text = text});
    }
  };
  try {
    if (result.test.needs == Needs::kAgent && !plan_.agent) {
      return conclude(Verdict::kSkip, "needs an agent on the target");
    }
    find_agent(result.transcript);
    Context context({.address = plan_.target,
                     .agent = agent_.get(),
                     .tester_address = plan_.tester_address,
                     .revision = plan_.revision,
                     .markers = plan_.markers,
                     .private_data = plan_.private_data,
                     .fixed_address = plan_.target.has_value(),
                     .relayed = plan_.relayed},
                    plan_.limits, result.transcript);
    result.test.run(context);
    conclude(Verdict::kPass, {});
  } catch (const Failure& failure) {
    result.expected = failure.expected;
    result.got = failure.got;
    conclude(Verdict::kFail, failure.what());
  } catch (const Skipped& skipped) {
    conclude(Verdict::kSkip, skipped.what());
  } catch (const AgentError& error) {
    // What the interface of its stack cannot say is no fault of the stack on the wire.
    conclude(error.is("EOPNOTSUPP") ? Verdict::kSkip : Verdict::kFail, error.what());
  } catch (const CannotConnect& error) {
    conclude(Verdict::kError, error.what());
    result.out_of_reach = true;
  } catch (const std::exception& error) {
    conclude(Verdict::kError, error.what());
  }
}

Result Runner::run(const Case& test) {
  Result result{.test = test};
  const auto begin = Clock::now();
  judge(result);
  clear_up(result);
  result.duration = Clock::now() - begin;
  return result;
}

}  // namespace iwarp::conform
