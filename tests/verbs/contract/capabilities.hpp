#pragma once

#include <optional>
#include <string_view>

#include "iwarp/base/flags.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::verbs::contract {

/// What a provider may promise beyond what all of them do; a set. A test of a promise that is not
/// made checks that the call is refused and that the attributes say so, or is skipped.
enum class Capability : unsigned {
  kNone = 0,
  kAtomics = 1U << 0U,            ///< kFetchAdd and kCmpSwap.
  kImmediate = 1U << 1U,          ///< kImmediate and kWriteImmediate.
  kWindows = 1U << 2U,            ///< Memory windows of type 2.
  kFastRegistration = 1U << 3U,   ///< kRegister and kInvalidate.
  kZeroBased = 1U << 4U,          ///< Access::kZeroBased.
  kSharedReceive = 1U << 5U,      ///< Shared receive queues, with their limit event.
  kReregistration = 1U << 6U,     ///< MemoryRegion::reregister().
  kResizing = 1U << 7U,           ///< CompletionQueue::resize().
  kKeysRest = 1U << 8U,           ///< An STag that has ended does not come back soon.
  kAdoptsSockets = 1U << 9U,      ///< start_adopt() and start_await_request().
  kKeepsAfterReject = 1U << 10U,  ///< A rejection can leave the TCP connection open.
  kMarkers = 1U << 11U,           ///< ConnectOptions::want_markers.
  kRevision1 = 1U << 12U,         ///< ConnectOptions::mpa_revision 1, asked for and answered.
  kPrivateData508 = 1U << 13U,    ///< As much private data as MPA revision 2 has room for.
  /// Nothing of a queue pair completes before its handler was told how its start-up ended.
  kNothingBeforeEstablished = 1U << 14U,
  /// Requests that are not signaled leave room behind as soon as they are done.
  kUnsignaledFreesAtOnce = 1U << 15U,
  kCompletionsOutliveQp = 1U << 16U,  ///< What was not polled stays when its QP is destroyed.
  kSolicitedShown = 1U << 17U,        ///< CompletionFlags::kSolicited.
  kCounters = 1U << 18U,              ///< QueuePair::counters().
  kDiagnosis = 1U << 19U,             ///< QueuePair::diagnosis().
  kTerminateShown = 1U << 20U,        ///< QueuePair::terminate_sent() and terminate_received().
  kEndEvents = 1U << 21U,             ///< An AsyncEvent tells of a Terminate.
  kCapture = 1U << 22U,               ///< QpOptions::capture.
  kWindowsOfType1 = 1U << 24U,        ///< Memory windows of type 1 as well.
  kRemoteInvalidate = 1U << 25U,      ///< Access::kRemoteInvalidate.
  kMpaChoices = 1U << 26U,            ///< A start-up obeys ConnectOptions::require_crc.
  kPostsWhenAccepted = 1U << 27U,     ///< Sends are taken from start_accept() on.
  kTellsRefusals = 1U << 28U,  ///< A refused TCP connection is kFailed, as no peer has rejected it.
  kProbesMemory = 1U << 29U,   ///< Memory that the process may not use is refused.
  kEmptyRegions = 1U << 30U,   ///< Regions of no octets.
  kSolicitedEvents = 1U << 31U,  ///< Arm::kSolicited.
  kOpenedByName = 1U << 23U,     ///< Device::open() with the name that attributes() tell.
};
IWARP_FLAGS(Capability)

/// `set` without what is in `taken`.
constexpr Capability without(Capability set, Capability taken) {
  return static_cast<Capability>(static_cast<unsigned>(set) & ~static_cast<unsigned>(taken));
}

/// What is in both.
constexpr Capability common(Capability one, Capability other) {
  return static_cast<Capability>(static_cast<unsigned>(one) & static_cast<unsigned>(other));
}

/// What a device that was opened by name promises, as far as its attributes and the name of its
/// provider tell.
Capability capabilities_of(const DeviceAttributes& attributes);
/// What the software provider promises whatever lies below.
Capability software_capabilities();
/// A capability by its name, as "Atomics"; none if there is none of that name.
std::optional<Capability> capability_named(std::string_view name);
/// The name of a single one.
std::string_view name_of(Capability one);

}  // namespace iwarp::verbs::contract
