#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/mpa/enhanced_data.hpp"
#include "iwarp/mpa/error.hpp"
#include "iwarp/mpa/modes.hpp"

namespace iwarp::mpa {

/// Which of the two start-up frames (RFC 5044 §7.1.1): they differ in their key.
enum class FrameKind { kRequest, kReply };

/// The revisions of MPA that are spoken: RFC 5044's and RFC 6581's. Revision 0, the RDMA
/// Consortium's, goes with DDP and RDMAP versions that are not.
enum class Revision : std::uint8_t { k1 = 1, k2 = 2 };

/// The R bit of a Reply. In a Request it is sent as zero and not looked at.
enum class Verdict { kAccepted, kRejected };

/// Octets of a start-up frame in front of the Private Data.
inline constexpr std::size_t kStartupHeaderSize = 20;
/// The most Private Data, enhanced connection data included (RFC 5044 §7.1.1, RFC 6581 §7).
inline constexpr std::size_t kMaxPrivateData = 512;
/// Octets of the longest start-up frame.
inline constexpr std::size_t kMaxStartupFrameSize = kStartupHeaderSize + kMaxPrivateData;

/// A start-up frame to be sent.
struct StartupFrame {
  FrameKind kind = FrameKind::kRequest;  ///< Which key.
  Revision revision = Revision::k2;      ///< Rev.
  Markers markers = Markers::kOff;       ///< M: whether the sender wants to receive Markers.
  Crc crc = Crc::kOn;                    ///< C: whether the sender wants CRCs.
  Verdict verdict = Verdict::kAccepted;  ///< R: of a Reply.
  std::optional<EnhancedData> enhanced;  ///< S: only with revision 2.
  ConstBytes private_data;               ///< The ULP's.

  /// Octets that encode() writes.
  [[nodiscard]] std::size_t size() const;
  /// Writes the frame to the front of `out` and returns its size. Errors: kPrivateDataTooLong;
  /// kInvalidOptions for enhanced data in revision 1. Precondition: `out` has size() octets.
  Result<std::size_t, Error> encode(MutableBytes out) const;
};

/// The most Private Data that is left to the ULP: 512 octets, or 508 behind enhanced data.
constexpr std::size_t max_ulp_private_data(std::optional<EnhancedData> enhanced) {
  return kMaxPrivateData - (enhanced ? kEnhancedDataSize : 0);
}

/// How many octets the start-up frame has that begins with `prefix`, as far as can be told: the
/// whole frame's if the prefix reaches PD_Length, or else those of the header. Errors, as soon as
/// the prefix shows them, whatever it was cut: kBadKey, kBothInitiators, kBothResponders,
/// kUnsupportedRevision, kPrivateDataTooLong, kMissingEnhancedData.
[[nodiscard]] Result<std::size_t, Error> startup_frame_size(ConstBytes prefix, FrameKind expected);

/// A received start-up frame that has been checked (RFC 5044 §7.1.1, RFC 6581 §6). Refers to the
/// bytes it was parsed from. Reserved bits are not looked at; nor is S with revision 1.
class StartupFrameView {
 public:
  /// Errors: those of startup_frame_size(), and kTruncated. Bytes behind the frame are ignored.
  static Result<StartupFrameView, Error> parse(ConstBytes bytes, FrameKind expected);

  /// Octets of the frame.
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  /// Rev.
  [[nodiscard]] Revision revision() const;
  /// M: whether the sender wants to receive Markers.
  [[nodiscard]] Markers markers() const;
  /// C: whether the sender wants CRCs.
  [[nodiscard]] Crc crc() const;
  /// R: of a Reply.
  [[nodiscard]] Verdict verdict() const;
  /// The enhanced connection data, if S says that there is some.
  [[nodiscard]] std::optional<EnhancedData> enhanced() const;
  /// The ULP's part of the Private Data.
  [[nodiscard]] ConstBytes private_data() const;

 private:
  explicit StartupFrameView(ConstBytes bytes) : bytes_(bytes) {}

  ConstBytes bytes_;
};

}  // namespace iwarp::mpa
