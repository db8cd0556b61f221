#include "value_sources.hpp"

#include <set>

#include "commands/device_list.hpp"
#include "conform/selection.hpp"
#include "iwarp/verbs/verbs.hpp"

namespace iwarp::cli {
namespace {

std::vector<Candidate> devices() {
  std::vector<Candidate> all;
  for (const std::string& name : verbs::device_names()) all.push_back({name, {}});
  for (const std::string& name : interface_names()) {
    all.push_back({"soft:" + name, "the software stack, by this interface alone"});
  }
  return all;
}

/// Of `iwarp run`, which calls its device NAME.
std::vector<Candidate> software() { return {{"soft", "this stack, in the program's process"}}; }

std::vector<Candidate> interfaces() {
  std::vector<Candidate> all;
  for (const std::string& name : interface_names()) all.push_back({name, {}});
  return all;
}

/// Groups first: "mpa.startup" before "mpa.startup.one".
std::vector<Candidate> cases() {
  std::set<std::string> groups;
  const auto every = select({});
  for (const conform::Case& one : every) {
    const std::string id(one.id);
    for (std::size_t dot = id.find('.'); dot != std::string::npos; dot = id.find('.', dot + 1)) {
      groups.insert(id.substr(0, dot));
    }
  }
  std::vector<Candidate> all;
  for (const std::string& group : groups) all.push_back({group, "all that begin so"});
  for (const conform::Case& one : every)
    all.push_back({std::string(one.id), std::string(one.title)});
  return all;
}

}  // namespace

ValueSources value_sources() {
  return {{"DEVICE", devices},
          {"NAME", software},
          {"INTERFACE[,INTERFACE...]", interfaces},
          {"ID", cases}};
}

}  // namespace iwarp::cli
