#pragma once

#include <optional>
#include <vector>

#include "support/segments.hpp"
#include "verbs/sim_harness.hpp"

namespace iwarp::verbs::simtest {

/// Of a segment; verbs::Opcode is that of a work request.
using WireOpcode = rdmap::Opcode;

using iwarp::test::encoded;
using iwarp::test::segment;
using iwarp::test::tagged;
using iwarp::test::Ulpdu;
using iwarp::test::untagged;

/// A peer that the test plays itself, FPDU by FPDU or octet by octet.
class RawPeer {
 public:
  /// `modes` as this end sees them.
  RawPeer(std::unique_ptr<tcp_offload::Stream> stream, const mpa::StreamModes& modes)
      : stream_(std::move(stream)),
        framer_(modes.crc, modes.markers_tx),
        deframer_(modes.crc, modes.markers_rx) {}

  /// The octets of the FPDU that goes out next.
  std::vector<std::byte> frame(ConstBytes ulpdu);
  void send(ConstBytes ulpdu) { send_octets(frame(ulpdu)); }
  void send_octets(ConstBytes octets) { out_.insert(out_.end(), octets.begin(), octets.end()); }
  /// FIN behind what was sent.
  void finish() { finish_ = true; }
  void reset() { stream_->abort(); }
  /// Both halves at once, as close(2) does; what comes then is answered by a reset.
  void close() { stream_.reset(); }

  void turn();

  /// The Terminate that came, if one came; it is the last FPDU.
  [[nodiscard]] std::optional<rdmap::Terminate> terminate() const;

  std::vector<Ulpdu> came;  ///< ULPDUs.
  bool reads = true;
  bool ended = false;  ///< FIN came, or the connection was lost.
  bool lost = false;
  bool bad = false;  ///< What came was no FPDU.

 private:
  std::unique_ptr<tcp_offload::Stream> stream_;
  mpa::Framer framer_;
  mpa::Deframer deframer_;
  std::vector<std::byte> out_, in_;
  bool finish_ = false;
};

/// A queue pair whose peer is the test. The queue pair is the initiator of a client-server
/// connection, which may send and be sent to at once, unless `options.rtr` or `role` say otherwise;
/// `options.client` is what it is made of, whatever its role; `wrap` gets its stream.
class RawPair {
 public:
  explicit RawPair(const PairOptions& options = without_rtr(),
                   soft::Role role = soft::Role::kInitiator, const Wrap& wrap = {});

  static PairOptions without_rtr() {
    PairOptions options;
    options.rtr = mpa::Rtr::kNone;
    return options;
  }

  void turn() {
    end.turn();
    peer.turn();
  }
  bool run_until(const std::function<bool()>& condition, std::chrono::nanoseconds limit = 100s) {
    return network.run_until([this] { turn(); }, condition, limit);
  }
  void run_for(std::chrono::nanoseconds time) {
    run_until([] { return false; }, time);
  }
  /// Lets the peer answer the end of the queue pair's half by its own, until both are closed.
  bool run_until_closed(std::chrono::nanoseconds limit = 100s);

  TickingNetwork network;
  SimEnd end;
  tcp_offload::SimStreamPair streams;
  tcp_offload::SimLink link;
  RawPeer peer;
};

/// One whose peer does not read until it is told to: a Send (wr_id 1) has been posted of far more
/// than the network holds.
class StuckPair : public RawPair {
 public:
  explicit StuckPair(std::chrono::milliseconds linger = kDefaultLinger);

  Region& source = end.region(50'000, Access::kNone);
};

/// The opcode of a ULPDU's RDMAP control field.
rdmap::Opcode opcode_of(const Ulpdu& ulpdu);

}  // namespace iwarp::verbs::simtest

namespace iwarp::rdmap {
inline void PrintTo(const Cause& cause, std::ostream* out) {
  *out << static_cast<unsigned>(cause.layer) << '/' << static_cast<unsigned>(cause.type) << '/'
       << static_cast<unsigned>(cause.code) << " (" << describe(cause) << ')';
}
inline void PrintTo(Opcode opcode, std::ostream* out) { *out << traits(opcode).name; }
}  // namespace iwarp::rdmap
