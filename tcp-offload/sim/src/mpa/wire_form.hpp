#pragma once

namespace iwarp::tcp_offload::sim {

/// What FPDUs have in one direction of a stream.
struct FpduForm {
  bool crc = false;
  bool markers = false;
};

/// How the device changes them: `host` has nothing that `wire` has not.
struct FpduForms {
  FpduForm wire, host;

  [[nodiscard]] constexpr bool changes_crc() const { return wire.crc && !host.crc; }
  [[nodiscard]] constexpr bool changes_markers() const { return wire.markers && !host.markers; }
};

}  // namespace iwarp::tcp_offload::sim
