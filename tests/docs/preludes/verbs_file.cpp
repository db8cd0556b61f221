// A fragment in a document stands outside of functions.
#include <iwarp/verbs/verbs.hpp>
#include <stdexcept>
#include <utility>

namespace {

// FRAGMENT

}  // namespace
