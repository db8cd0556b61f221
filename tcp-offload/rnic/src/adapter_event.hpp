#pragma once

#include <memory>

#include "cm_loop.hpp"

namespace iwarp::rnic {

class Host;

/// The context of a queue or a queue pair in the adapter: by it an asynchronous event of the
/// adapter finds the Device whose object it is. It outlives the object.
struct EventLabel {
  std::weak_ptr<Host> host;
  std::uint32_t number = 0;  ///< Of a queue; the adapter numbers queue pairs.
};

/// What is to be done of an asynchronous event, once it has been acknowledged. One of an object
/// goes to the object's Device, others to all that there are of the adapter.
CmLoop::Task note_adapter_event(Adapter& adapter, const ibv_async_event& event);

}  // namespace iwarp::rnic
