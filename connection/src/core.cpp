#include "iwarp/connection/core.hpp"

namespace iwarp::connection {

Core::Core(const Environment& environment, const Terms& terms)
    : reads_(terms.ord, terms.secret),
      responses_(terms.ird),
      inbound_({environment.stags, environment.accessor, environment.receives, reads_, responses_,
                environment.allowed},
               {terms.modes.crc, terms.modes.markers_rx, terms.first, terms.extensions, terms.ord,
                terms.receive_wait}),
      outbound_({environment.stags, environment.accessor, environment.requests, responses_, reads_},
                {terms.modes.crc, terms.modes.markers_tx, terms.rtr, terms.source}) {}

}  // namespace iwarp::connection
