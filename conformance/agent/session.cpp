#include "agent/session.hpp"

#include <algorithm>
#include <bit>

namespace iwarp::agent {
namespace {

constexpr std::uint64_t kLongestMessage = UINT32_MAX;  // RFC 5041 §5.2

using agent_protocol::Feature;

std::vector<Feature> features_of(const verbs::DeviceAttributes& device) {
  std::vector<Feature> features{"send_inv", "read"};
  if (device.mpa_choices) features.insert(features.end(), {"mpa", "markers"});
  if (device.remote_invalidate) features.insert(features.end(), {"remote_invalidate"});
  if (device.max_mw != 0) features.insert(features.end(), {"window"});
  if (device.rfc7306) features.insert(features.end(), {"atomic", "immediate"});
  return features;
}

}  // namespace

Session::Session(verbs::Device& device, SessionOptions options)
    : device_(device),
      options_(std::move(options)),
      features_(features_of(device.attributes())),
      pd_(require(device.alloc_pd())) {}

std::string Session::answer(std::string_view line) {
  try {
    return dispatch(Command(line)).line();
  } catch (const CommandError& error) {
    return error_line(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return error_line(std::make_error_code(std::errc::not_enough_memory), "out of memory");
  } catch (const std::exception& error) {
    return error_line(std::make_error_code(std::errc::io_error), error.what());
  }
}

// The pairs of `post` depend on its operation, which checks them.
Reply Session::dispatch(const Command& command) {
  using agent_protocol::kCommands;
#define IWARP_FUNCTION(word, ...) &Session::word,
  static constexpr Reply (Session::*kFunctions[])(const Command&) = {
      PROTOCOL_COMMANDS(IWARP_FUNCTION)};
#undef IWARP_FUNCTION
  const auto* const line = agent_protocol::find_line(kCommands, command.word());
  if (line == std::end(kCommands)) throw invalid("there is no such command");
  command.check(line->required, line->optional);
  need(line->feature);
  return (this->*kFunctions[line - std::begin(kCommands)])(command);
}

void Session::need(std::string_view feature) const {
  if (feature == agent_protocol::kNone) return;
  if (std::ranges::find(features_, feature, &Feature::text) != features_.end()) return;
  throw refused(std::errc::operation_not_supported,
                "this stack is without " + std::string(feature));
}

Reply Session::hello(const Command& command) {
  using agent_protocol::kVersion;
  if (command.number("version") != kVersion) {
    throw refused(std::errc::protocol_not_supported,
                  "this agent speaks version " + std::to_string(kVersion));
  }
  std::string features;
  for (const Feature& feature : features_) {
    features.append(features.empty() ? "" : ",").append(feature.text());
  }
  return Reply()
      .number("version", kVersion)
      .text("name", "iwarp")
      .text("features", features)
      .number("max_message", kLongestMessage)
      .text("order", std::endian::native == std::endian::little ? "little" : "big");
}

Reply Session::reset(const Command& /*command*/) {
  while (listener_ && listener_->next(std::chrono::milliseconds(0))) {
    // A request that no `await` has fetched: its destructor rejects it.
  }
  endpoints_.clear();
  windows_.clear();
  regions_.clear();
  octets_ = 0;
  return {};
}

Endpoint& Session::endpoint_of(const Command& command) {
  const std::uint64_t id = command.number("endpoint");
  const auto found = endpoints_.find(id);
  if (found == endpoints_.end()) throw invalid("there is no endpoint " + std::to_string(id));
  return *found->second;
}

}  // namespace iwarp::agent
