#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/crc32c.hpp"
#include "iwarp/tcp_offload/error.hpp"
#include "mpa/fpdu_walk.hpp"
#include "mpa/wire_form.hpp"

namespace iwarp::tcp_offload::sim {

/// Makes of the octets of the wire the FPDUs that the host gets: checks their CRCs and Markers and
/// takes them out. Of an FPDU nothing is let through before all of it has been found good.
class WireReader {
 public:
  explicit WireReader(const FpduForms& forms) : forms_(forms), walk_(forms.wire.markers) {}

  /// Goes on with `wire`; drops what is there of a bad FPDU, and all behind it.
  void read(ConstBytes wire);

  /// The good FPDUs since the last call, as the host gets them.
  [[nodiscard]] std::vector<std::byte> take_good() { return std::exchange(good_, {}); }
  /// What is bad about the FPDU behind those, if that is known. The CRC is judged before the
  /// Markers, which it covers.
  [[nodiscard]] std::optional<Error> error() const { return error_; }
  /// What has come of an FPDU that is not whole, without what the host does not get; unchecked.
  [[nodiscard]] ConstBytes begun() const { return begun_; }
  /// The same; there is none of it any more.
  [[nodiscard]] std::vector<std::byte> take_begun() { return std::exchange(begun_, {}); }

 private:
  void look(FpduRun run, ConstBytes octets);
  void check_marker(std::size_t at, ConstBytes octets);
  void check_crc(std::size_t at, ConstBytes octets);
  void end_fpdu();

  FpduForms forms_;
  FpduWalk walk_;
  Crc32c crc_;
  bool crc_matches_ = true, markers_match_ = true;  // so far, of the FPDU
  std::vector<std::byte> begun_, good_;
  std::optional<Error> error_;
};

}  // namespace iwarp::tcp_offload::sim
