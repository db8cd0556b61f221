#include "choice.hpp"

#include <algorithm>
#include <cstdlib>

namespace iwarp::verbs::devices {
namespace {

// What was asked for, and whence messages say it came.
struct Wanted {
  std::string name;
  std::string_view source;
};

Wanted wanted_by_environment() {
  const char* const said = ::secure_getenv("IWARP_DEVICE");
  return {said == nullptr ? "" : said, " (IWARP_DEVICE)"};
}

std::string full_name(const DeviceKind& kind, const std::string& rest) {
  const std::string prefix(kind.prefix);
  return rest.empty() ? prefix : prefix + ":" + rest;
}

Failure<Error> unknown(std::span<const DeviceKind> kinds, const Wanted& wanted) {
  std::string all;
  const auto add = [&all](std::string_view name) {
    if (!name.empty()) all.append(all.empty() ? "" : ", ").append(name);
  };
  for (const DeviceKind& kind : kinds) {
    for (const std::string& rest : kind.names()) add(full_name(kind, rest));
    add(kind.form);
  }
  return fail(std::errc::no_such_device, "no device is called '" + wanted.name + "'" +
                                             std::string(wanted.source) + ": there are " + all);
}

bool is_device_without_rest(const DeviceKind& kind) {
  const auto rests = kind.names();
  return std::find(rests.begin(), rests.end(), "") != rests.end();
}

// Which provider the name is for, and what the provider gets of it. None if it has no such form.
struct Parsed {
  const DeviceKind* kind = nullptr;
  std::string rest;
};

Parsed parse(std::span<const DeviceKind> kinds, const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string_view prefix = std::string_view(name).substr(0, colon);
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [prefix](const DeviceKind& one) { return one.prefix == prefix; });
  if (kind == kinds.end()) return {};
  if (colon != std::string::npos) {
    const std::string rest = name.substr(colon + 1);
    return rest.empty() ? Parsed{} : Parsed{&*kind, rest};
  }
  return is_device_without_rest(*kind) ? Parsed{&*kind, ""} : Parsed{};
}

}  // namespace

std::vector<std::string> names_of(std::span<const DeviceKind> kinds) {
  std::vector<std::string> names;
  for (const DeviceKind& kind : kinds) {
    for (const std::string& rest : kind.names()) names.push_back(full_name(kind, rest));
  }
  return names;
}

Outcome<Device> open(std::span<const DeviceKind> kinds, const std::string& name) {
  Wanted wanted = name.empty() ? wanted_by_environment() : Wanted{name, ""};
  if (wanted.name.empty()) wanted.name = kinds.front().prefix;
  const Parsed parsed = parse(kinds, wanted.name);
  if (parsed.kind == nullptr) return unknown(kinds, wanted);
  auto provider = parsed.kind->open(parsed.rest);
  if (!provider) return failure(std::move(provider).error());
  return Device(std::move(*provider));
}

}  // namespace iwarp::verbs::devices
