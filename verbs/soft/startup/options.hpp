#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "iwarp/mpa/initiator.hpp"
#include "iwarp/mpa/responder.hpp"
#include "iwarp/verbs/connection.hpp"

/// The user's terms of a connection in MPA's, and back.
namespace iwarp::verbs::soft {

/// The request's part of an Initiator: offers peer-to-peer with Write and Read as RTR indications.
/// The private data refers into `options`. Errors: EINVAL for a revision other than 1 and 2, and
/// those of check_options().
Outcome<mpa::InitiatorOptions> initiator_options(const ConnectOptions& options);

/// An Initiator made from them. Errors: the same, and EINVAL if they contradict each other.
Outcome<mpa::Initiator> make_initiator(const ConnectOptions& options);

/// Errors: EINVAL for IRD or ORD beyond kMaxReadRequests, or more private data than
/// `max_private_data` octets.
Outcome<void> check_options(const ConnectOptions& options, std::size_t max_private_data);

/// How a Responder accepts with options that have passed check_options(); refers into them.
mpa::AcceptOptions accept_options(const ConnectOptions& options);

/// `what` of a connection is in force.
ConnectionInfo info_of(const mpa::Agreed& agreed, ConstBytes peer_private_data);

/// What a peer asks for, before it is answered.
ConnectionInfo info_of(const mpa::PeerRequest& request);

/// The number, if there is one.
std::optional<std::uint16_t> value_if_stated(mpa::ReadDepth depth);

/// A time-out that every clock can hold: at least 0, at most kLongestWait.
std::chrono::nanoseconds bounded(std::chrono::milliseconds timeout);

}  // namespace iwarp::verbs::soft
