#pragma once

#include "iwarp/ddp/stag_table.hpp"

namespace iwarp::ddp {

/// The protection domain of what the tests of the STag table register.
inline constexpr ProtectionDomainId kPd{3};

}  // namespace iwarp::ddp
