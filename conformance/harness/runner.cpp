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

// Each case begins with an agent that holds nothing. One that broke off is looked for again.
void Runner::prepare_agent(Transcript& transcript) {
  if (!plan_.agent) return;
  if (agent_) {
    try {
      agent_->record(&transcript);
      agent_->reset();
      return;
    } catch (const std::runtime_error& error) {
      transcript.note(std::string("the agent is lost: ") + error.what());
      agent_.reset();
    }
  }
  if (plan_.revive) plan_.agent = plan_.revive();
  if (!plan_.agent) throw Unreachable("the agent is gone");
  agent_ = std::make_unique<Agent>(*plan_.agent, plan_.limits.timeout);
  agent_->record(&transcript);
  agent_->reset();
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
    prepare_agent(result.transcript);
    Context context({.address = plan_.target,
                     .agent = agent_.get(),
                     .tester_address = plan_.tester_address,
                     .revision = plan_.revision,
                     .markers = plan_.markers,
                     .private_data = plan_.private_data,
                     .fixed_address = plan_.target.has_value()},
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
    conclude(Verdict::kFail, error.what());
  } catch (const std::exception& error) {
    conclude(Verdict::kError, error.what());
  }
}

Result Runner::run(const Case& test) {
  Result result{.test = test};
  const auto begin = Clock::now();
  judge(result);
  result.duration = Clock::now() - begin;
  if (agent_) agent_->record(nullptr);
  return result;
}

}  // namespace iwarp::conform
