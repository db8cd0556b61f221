#include "iwarp/rdmap/error.hpp"
#include "iwarp/verbs/diagnosis.hpp"

/// What of the verbs needs the protocols.
namespace iwarp::verbs {

std::string describe(const TerminateInfo& terminate) {
  return rdmap::describe(
      {static_cast<rdmap::Layer>(terminate.layer), terminate.type, terminate.code});
}

}  // namespace iwarp::verbs
