#pragma once

#include <utility>

#include "adapter.hpp"
#include "iwarp/provider/failure.hpp"

namespace iwarp::rnic {

/// What `call` answers. Where memory runs out, or it throws something else, that is the answer,
/// with the adapter's name if there is memory for a sentence.
template <typename Call>
auto answer_of(const Adapter& adapter, const char* what_failed, Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& thrown) {
    return failure(
        verbs::short_error_of(thrown, [&] { return adapter.name + ": " + what_failed; }));
  }
}

}  // namespace iwarp::rnic
