#pragma once

#include <memory>

#include "iwarp/verbs/provider.hpp"

namespace iwarp::verbs::test {

/// A provider that is no software stack: an adapter without a wire, whose queue pairs reach each
/// other within the process and whose posts complete at once. It shows what the seam asks of an
/// adapter's provider, and that the handles above need nothing else.
std::shared_ptr<provider::Provider> make_fake_adapter();

}  // namespace iwarp::verbs::test
