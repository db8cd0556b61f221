#pragma once

#include <memory>
#include <string>
#include <vector>

#include "iwarp/verbs/provider.hpp"

/// The provider that hands everything to an RDMA adapter: the deepest offload, which leaves nothing
/// of iWARP to this host. It reaches adapters through the system's rdma-core, which is loaded when
/// one is asked for and need not be installed.
namespace iwarp::rnic {

/// The adapters of transport iWARP that the system has, as rdma-core names them ("siw0"); none
/// where there is no rdma-core. Any thread.
std::vector<std::string> adapter_names();

/// Opens one of them. Its threads: one for all that a process opens of an adapter, for connections
/// and events, and one for each connection in the moment in which it is asked for; none on the path
/// of a message. Asynchronous events of an object reach what it was made from, others all that is
/// open of the adapter. Errors, each of which names what is missing and what helps: ENOENT (no
/// rdma-core, or one that is too old), ENODEV (no such adapter, or none of transport iWARP; or one
/// that has failed, and is still open), EACCES (the device files), EBUSY (this process has this
/// project's own libibverbs loaded, as under `iwarp run`; or it was forked from one that had opened
/// an adapter, whose rdma-core it has inherited). Any thread.
verbs::Outcome<std::shared_ptr<verbs::provider::Provider>> open_adapter(const std::string& name);

}  // namespace iwarp::rnic
