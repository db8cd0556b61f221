#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "iwarp/verbs/verbs.hpp"
#include "verbs/contract/capabilities.hpp"

namespace iwarp::verbs::contract {

/// Two devices of the provider under test that reach each other, and a way to let time pass. It
/// outlives all that is made from its devices.
class World {
 public:
  virtual ~World() = default;
  /// The device whose queue pairs connect.
  virtual Device& client() = 0;
  /// The device that is listened with; may be the same.
  virtual Device& server() = 0;
  /// Where to listen, with port 0, for the client to reach it.
  [[nodiscard]] virtual Endpoint listen_at() const = 0;
  /// Lets things happen until the condition holds, which is asked again and again; false if it does
  /// not in time.
  virtual bool until(const std::function<bool()>& condition) = 0;
  /// Gives what must not happen some time to happen.
  virtual void settle() = 0;
  /// Called when a connection is there, before its first message.
  virtual void on_connected() {}
  /// What it promises beyond what every provider does.
  [[nodiscard]] virtual Capability capabilities() const = 0;
};

/// A kind of world; each test makes one of its own.
struct WorldMaker {
  std::string name;
  std::function<std::unique_ptr<World>()> make;
};
inline void PrintTo(const WorldMaker& maker, std::ostream* out) { *out << maker.name; }

/// The worlds in which the tests of this program run: each program defines its own. Called when
/// GoogleTest has its arguments.
std::vector<WorldMaker> worlds();

/// Runs the tests of a suite derived from Contract in every world of the program.
#define IWARP_IN_EVERY_WORLD(suite)                                \
  INSTANTIATE_TEST_SUITE_P(, suite, ::testing::ValuesIn(worlds()), \
                           [](const auto& of) { return of.param.name; })

}  // namespace iwarp::verbs::contract
