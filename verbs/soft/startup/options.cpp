#include "soft/startup/options.hpp"

#include <algorithm>
#include <string>

#include "iwarp/base/deadline.hpp"
#include "soft/startup/error.hpp"
#include "soft/startup/startup.hpp"

namespace iwarp::verbs::soft {
namespace {

mpa::Crc crc_of(const ConnectOptions& options) {
  return options.require_crc ? mpa::Crc::kOn : mpa::Crc::kOff;
}

mpa::Markers markers_of(const ConnectOptions& options) {
  return options.want_markers ? mpa::Markers::kOn : mpa::Markers::kOff;
}

mpa::DepthOptions depths_of(const ConnectOptions& options) {
  mpa::DepthOptions depths;
  depths.ird = options.ird;
  depths.ord = options.ord;
  depths.ird_limit = kMaxReadRequests;
  return depths;
}

std::vector<std::byte> copy_of(ConstBytes bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

Outcome<void> check_options(const ConnectOptions& options, std::size_t max_private_data) {
  if (options.ird > kMaxReadRequests || options.ord > kMaxReadRequests) {
    return fail(std::errc::invalid_argument, "IRD " + std::to_string(options.ird) + " or ORD " +
                                                 std::to_string(options.ord) + " exceeds " +
                                                 std::to_string(kMaxReadRequests));
  }
  const std::size_t size = options.private_data.size();
  if (size > max_private_data) {
    return fail(std::errc::invalid_argument, std::to_string(size) +
                                                 " octets of private data exceed the limit of " +
                                                 std::to_string(max_private_data));
  }
  return {};
}

Outcome<mpa::InitiatorOptions> initiator_options(const ConnectOptions& options) {
  if (options.mpa_revision != 1 && options.mpa_revision != 2) {
    return fail(std::errc::invalid_argument,
                "MPA revision " + std::to_string(options.mpa_revision) + " is neither 1 nor 2");
  }
  const bool enhanced = options.mpa_revision == 2;
  const auto checked = check_options(
      options, mpa::kMaxPrivateData - (enhanced ? mpa::kEnhancedDataSize : std::size_t{0}));
  if (!checked) return failure(checked.error());

  mpa::InitiatorOptions to;
  to.format = enhanced ? mpa::StartupFormat::kEnhanced : mpa::StartupFormat::kRevision1;
  to.peer_to_peer =
      enhanced && options.peer_to_peer ? mpa::PeerToPeer::kPreferred : mpa::PeerToPeer::kOff;
  to.rtr = {mpa::Rtr::kWrite, mpa::Rtr::kRead};
  to.crc = crc_of(options);
  to.markers_rx = markers_of(options);
  to.depths = depths_of(options);
  to.fallback = options.fall_back ? mpa::Fallback::kPermitted : mpa::Fallback::kForbidden;
  to.private_data = options.private_data;
  return to;
}

Outcome<mpa::Initiator> make_initiator(const ConnectOptions& options) {
  const auto request = initiator_options(options);
  if (!request) return failure(request.error());
  auto initiator = mpa::Initiator::create(*request);
  if (!initiator) return failure(mpa_error("making the MPA request failed", initiator.error()));
  return std::move(*initiator);
}

mpa::AcceptOptions accept_options(const ConnectOptions& options) {
  mpa::AcceptOptions to;
  to.crc = crc_of(options);
  to.markers_rx = markers_of(options);
  to.depths = depths_of(options);
  to.ird_shortage = mpa::IrdShortage::kReject;
  to.rtr = mpa::RtrSet::all();
  to.private_data = options.private_data;
  return to;
}

ConnectionInfo info_of(const mpa::Agreed& agreed, ConstBytes peer_private_data) {
  ConnectionInfo info;
  info.private_data = copy_of(peer_private_data);
  info.ird = agreed.depths.ird;
  info.ord = agreed.depths.ord;
  info.peer_ird = value_if_stated(agreed.peer_ird);
  info.peer_ord = value_if_stated(agreed.peer_ord);
  info.mpa_revision = static_cast<std::uint8_t>(agreed.revision);
  info.crc = agreed.modes.crc == mpa::Crc::kOn;
  info.markers_sent = agreed.modes.markers_tx == mpa::Markers::kOn;
  info.markers_received = agreed.modes.markers_rx == mpa::Markers::kOn;
  return info;
}

ConnectionInfo info_of(const mpa::PeerRequest& request) {
  ConnectionInfo info;
  info.private_data = copy_of(request.private_data);
  if (request.enhanced) {
    info.peer_ird = value_if_stated(request.enhanced->ird);
    info.peer_ord = value_if_stated(request.enhanced->ord);
    info.ird = info.peer_ird.value_or(std::uint16_t{0});
    info.ord = info.peer_ord.value_or(std::uint16_t{0});
  }
  info.mpa_revision = static_cast<std::uint8_t>(request.revision);
  info.crc = request.crc == mpa::Crc::kOn;
  info.markers_sent = request.markers == mpa::Markers::kOn;
  return info;
}

std::optional<std::uint16_t> value_if_stated(mpa::ReadDepth depth) {
  if (!depth.is_stated()) return std::nullopt;
  return depth.value();
}

std::chrono::nanoseconds bounded(std::chrono::milliseconds timeout) {
  using std::chrono::milliseconds;
  constexpr milliseconds kLongest = kLongestWait;
  return std::clamp(timeout, milliseconds(0), kLongest);
}

}  // namespace iwarp::verbs::soft
