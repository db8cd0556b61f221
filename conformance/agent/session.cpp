#include "agent/session.hpp"

#include <algorithm>
#include <bit>

namespace iwarp::agent {
namespace {

constexpr std::uint64_t kLongestMessage = UINT32_MAX;  // RFC 5041 §5.2

std::vector<std::string> features_of(const verbs::DeviceAttributes& device) {
  std::vector<std::string> features{"send_inv", "read", "mpa", "markers", "remote_invalidate"};
  if (device.max_mw != 0) features.emplace_back("window");
  if (device.rfc7306) features.insert(features.end(), {"atomic", "immediate"});
  return features;
}

}  // namespace

/// A command: its word, the pairs it must and may have, the feature it needs, and what does it.
struct Session::Entry {
  std::string_view word, required, optional, feature;
  Reply (Session::*execute)(const Command&);
};

// The pairs of `post` depend on its operation, which checks them.
const std::vector<Session::Entry>& Session::entries() {
  static const std::vector<Entry> kEntries{
      {"hello", "version", "", "", &Session::hello},
      {"reset", "", "", "", &Session::reset},
      {"listen", "", "ird ord revision crc markers p2p", "", &Session::listen},
      {"await", "ms", "", "", &Session::await},
      {"accept", "endpoint", "private ird ord", "", &Session::accept},
      {"reject", "endpoint", "private", "", &Session::reject},
      {"dial", "address port", "revision crc markers p2p", "", &Session::dial},
      {"connect", "endpoint", "private ird ord", "", &Session::connect},
      {"event", "endpoint ms", "", "", &Session::event},
      {"disconnect", "endpoint", "", "", &Session::disconnect},
      {"close", "endpoint", "", "", &Session::close},
      {"region", "size access", "fill", "", &Session::region},
      {"deregister", "region", "", "", &Session::deregister},
      {"window", "endpoint region offset length access", "", "window", &Session::window},
      {"fetch", "region offset length", "", "", &Session::fetch},
      {"store", "region offset data", "", "", &Session::store},
      {"receive", "endpoint id region offset length", "", "", &Session::receive},
      {"post", "endpoint id op",
       "region offset length stag address invalidate immediate add compare swap", "",
       &Session::post},
      {"completion", "endpoint ms", "", "", &Session::completion},
  };
  return kEntries;
}

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

Reply Session::dispatch(const Command& command) {
  const auto& all = entries();
  const auto entry = std::find_if(all.begin(), all.end(), [&](const Entry& candidate) {
    return candidate.word == command.word();
  });
  if (entry == all.end()) throw invalid("there is no such command");
  command.check(entry->required, entry->optional);
  if (!entry->feature.empty()) need(entry->feature);
  return (this->*entry->execute)(command);
}

void Session::need(std::string_view feature) const {
  if (std::find(features_.begin(), features_.end(), feature) != features_.end()) return;
  throw refused(std::errc::operation_not_supported,
                "this stack is without " + std::string(feature));
}

Reply Session::hello(const Command& command) {
  if (command.number("version") != 1) {
    throw refused(std::errc::protocol_not_supported, "this agent speaks version 1");
  }
  std::string features;
  for (const std::string& feature : features_) features += (features.empty() ? "" : ",") + feature;
  return Reply()
      .number("version", 1)
      .text("name", "iwarp")
      .text("features", features)
      .number("max_message", kLongestMessage)
      .text("order", std::endian::native == std::endian::little ? "little" : "big");
}

Reply Session::reset(const Command& /*command*/) {
  while (listener_ && listener_->next(std::chrono::milliseconds(0))) {
    // A request that nobody has asked for is rejected by being dropped.
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
