#pragma once

#include <algorithm>
#include <deque>
#include <map>

#include "harness/tcp.hpp"
#include "harness/verdict.hpp"
#include "wire/fpdu.hpp"
#include "wire/rdmap.hpp"
#include "wire/startup_frame.hpp"

namespace iwarp::conform {

/// How long a case waits.
struct Limits {
  milliseconds timeout{3000};  ///< For something that has to come.
  /// For something that must not come: less, since every sound target costs all of it.
  milliseconds quiet = std::max(milliseconds(150), timeout / 20);
};

/// One iWARP connection of a case, driven frame by frame. What the target sends is judged as it
/// arrives: a fault in the framing of any FPDU fails the case. `expect_…` throw Failure.
class Stream {
 public:
  Stream(Tcp tcp, bool tester_connected, Transcript& transcript, const Limits& limits);

  // --- octets ---
  /// Any octets, noted as `kind`. A target that has closed already is not a failure here.
  void send_octets(OctetView octets, Event::Kind kind = Event::Kind::kNote);
  void shut_down_sending();
  void reset();
  void close() { tcp_.close(); }

  // --- start-up ---
  void send(const StartupFrame& frame);
  /// Sends them in pieces of `piece` octets, each a TCP segment, noted as one thing of `kind`.
  void send_in_pieces(OctetView octets, std::size_t piece, Event::Kind kind = Event::Kind::kNote);
  StartupFrame expect_startup_frame(std::string_view key, std::string_view what);
  StartupFrame expect_reply() { return expect_startup_frame(kReplyKey, "an MPA Reply Frame"); }
  /// None if the target ends the connection instead, without a word.
  std::optional<StartupFrame> expect_reply_or_end();
  StartupFrame expect_request() {
    return expect_startup_frame(kRequestKey, "an MPA Request Frame");
  }
  /// From here on FPDUs go both ways.
  void begin_full_operation(Framing sending, Framing receiving);
  Framing sending() const { return sending_; }
  Framing receiving() const { return receiving_; }

  // --- FPDUs and segments ---
  void send_fpdu(OctetView ulpdu, const FpduFault& fault = {});
  void send(const Segment& segment, const FpduFault& fault = {}) {
    send_fpdu(encode(segment), fault);
  }
  /// Several segments, each an FPDU, in one go: the target may find them all at once.
  void send_together(const std::vector<Segment>& segments);
  /// The octets of an FPDU as the next one would be, for cases that cut or join them. They are part
  /// of the stream from now on: send them with send_octets.
  Octets frame(const Segment& segment, const FpduFault& fault = {});
  /// One Send of one segment; takes the next MSN of queue 0.
  void send_message(Octets payload, Opcode opcode = kSend, std::uint32_t invalidate_stag = 0);
  /// One RDMA Read Request; takes the next MSN of queue 1.
  void send_read_request(const ReadRequest& request);
  void send_atomic_request(const AtomicRequest& request);
  void write(std::uint32_t stag, std::uint64_t to, Octets payload);
  std::uint32_t next_msn(std::uint32_t queue) { return ++msn_[queue]; }

  /// The next FPDU; its framing is right.
  Fpdu expect_fpdu(std::string_view what = "an FPDU");
  Segment expect_segment(std::string_view what = "a DDP Segment");
  /// None if the target ends the connection instead, which it must not do inside an FPDU.
  std::optional<Segment> expect_segment_or_end(std::string_view what = "a DDP Segment");
  /// A segment with this opcode, version numbers 1, and zero in the reserved bits and in an
  /// Invalidate STag that the opcode does not use.
  Segment expect_segment_of(Opcode opcode);
  /// A Terminate with one of these causes, or with any if there are none, on queue 2 with MSN 1.
  /// Segments in front of it, such as the rest of a Read Response, are passed over.
  Terminate expect_terminate(const std::vector<Cause>& causes);
  Terminate expect_terminate(const Cause& cause) { return expect_terminate(std::vector{cause}); }
  /// The target ends the connection, by FIN or RST, and sends nothing more but what `also` allows.
  /// Which of the two it was.
  enum class Before { kNothing, kTerminate, kAnything };
  Tcp::Got expect_end(Before also = Before::kNothing);
  /// Waits for the end of the connection for as long as `longest`, and judges nothing: for a target
  /// that may leave it to a timeout of its own.
  void await_end(milliseconds longest);
  /// The target does not put up with what it got: it ends the connection, either at once or behind
  /// a Terminate with one of these causes.
  void expect_refusal(const std::vector<Cause>& causes);
  /// Nothing comes and the connection stays.
  void expect_quiet(std::string_view why);
  /// Whether the target has anything to say within Limits::quiet, be it half an FPDU.
  bool says_something();

  const Limits& limits() const { return limits_; }
  Transcript& transcript() { return transcript_; }

 private:
  // Reads until `enough`, or says what came instead.
  template <typename Enough>
  Tcp::Got read_until(Enough enough, milliseconds timeout);
  Tcp::Got read_some(milliseconds timeout);
  std::optional<Fpdu> next_fpdu();
  std::string describe_end(Tcp::Got got) const;
  void met(std::string text);
  void note_sent(OctetView octets, Event::Kind kind);

  Tcp tcp_;
  Transcript& transcript_;
  Limits limits_;
  std::size_t connection_;
  bool full_operation_ = false;
  std::optional<Tcp::Got> ended_;
  Octets startup_octets_;  // received and not yet a frame
  Framing sending_, receiving_;
  FpduWriter writer_;
  FpduReader reader_;
  std::deque<Fpdu> fpdus_;
  std::map<std::uint32_t, std::uint32_t> msn_;
};

/// Such as "Send (QN 0, MSN 1, MO 0, 12 octets, last)".
std::string describe(const Segment& segment);

}  // namespace iwarp::conform
