#include "verbs/contract/capabilities.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace iwarp::verbs::contract {
namespace {

constexpr std::array<std::pair<Capability, std::string_view>, 32> kCapabilityNames{{
    {Capability::kAtomics, "Atomics"},
    {Capability::kImmediate, "Immediate"},
    {Capability::kWindows, "Windows"},
    {Capability::kFastRegistration, "FastRegistration"},
    {Capability::kZeroBased, "ZeroBased"},
    {Capability::kSharedReceive, "SharedReceive"},
    {Capability::kReregistration, "Reregistration"},
    {Capability::kResizing, "Resizing"},
    {Capability::kKeysRest, "KeysRest"},
    {Capability::kAdoptsSockets, "AdoptsSockets"},
    {Capability::kKeepsAfterReject, "KeepsAfterReject"},
    {Capability::kMarkers, "Markers"},
    {Capability::kRevision1, "Revision1"},
    {Capability::kPrivateData508, "PrivateData508"},
    {Capability::kNothingBeforeEstablished, "NothingBeforeEstablished"},
    {Capability::kUnsignaledFreesAtOnce, "UnsignaledFreesAtOnce"},
    {Capability::kCompletionsOutliveQp, "CompletionsOutliveQp"},
    {Capability::kSolicitedShown, "SolicitedShown"},
    {Capability::kCounters, "Counters"},
    {Capability::kDiagnosis, "Diagnosis"},
    {Capability::kTerminateShown, "TerminateShown"},
    {Capability::kEndEvents, "EndEvents"},
    {Capability::kCapture, "Capture"},
    {Capability::kOpenedByName, "OpenedByName"},
    {Capability::kWindowsOfType1, "WindowsOfType1"},
    {Capability::kRemoteInvalidate, "RemoteInvalidate"},
    {Capability::kMpaChoices, "MpaChoices"},
    {Capability::kPostsWhenAccepted, "PostsWhenAccepted"},
    {Capability::kTellsRefusals, "TellsRefusals"},
    {Capability::kProbesMemory, "ProbesMemory"},
    {Capability::kEmptyRegions, "EmptyRegions"},
    {Capability::kSolicitedEvents, "SolicitedEvents"},
}};

}  // namespace

Capability software_capabilities() {
  using enum Capability;
  return kAtomics | kImmediate | kWindows | kFastRegistration | kZeroBased | kSharedReceive |
         kReregistration | kResizing | kKeysRest | kMarkers | kRevision1 | kPrivateData508 |
         kNothingBeforeEstablished | kUnsignaledFreesAtOnce | kSolicitedShown | kCounters |
         kDiagnosis | kTerminateShown | kEndEvents | kWindowsOfType1 | kRemoteInvalidate |
         kMpaChoices | kPostsWhenAccepted | kTellsRefusals | kProbesMemory | kEmptyRegions |
         kSolicitedEvents;
}

Capability capabilities_of(const DeviceAttributes& attributes) {
  using enum Capability;
  if (attributes.provider == "software") {
    return software_capabilities() | kAdoptsSockets | kKeepsAfterReject | kCapture | kOpenedByName;
  }
  Capability all = kOpenedByName | kSolicitedEvents;
  if (attributes.rfc7306) all = all | kAtomics | kImmediate;
  if (attributes.max_mw != 0) all = all | kWindows;
  if (attributes.resizes_cq) all = all | kResizing;
  if (attributes.remote_invalidate) all = all | kRemoteInvalidate;
  if (attributes.mpa_choices) all = all | kMpaChoices;
  if (attributes.max_srq != 0) all = all | kSharedReceive;
  if (attributes.max_private_data >= 508) all = all | kPrivateData508;
  return all;
}

std::optional<Capability> capability_named(std::string_view name) {
  const auto* const found = std::find_if(kCapabilityNames.begin(), kCapabilityNames.end(),
                                         [name](const auto& row) { return row.second == name; });
  if (found == kCapabilityNames.end()) return std::nullopt;
  return found->first;
}

std::string_view name_of(Capability one) {
  const auto* const found = std::find_if(kCapabilityNames.begin(), kCapabilityNames.end(),
                                         [one](const auto& row) { return row.first == one; });
  return found == kCapabilityNames.end() ? "?" : found->second;
}

}  // namespace iwarp::verbs::contract
