#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "iwarp/base/guarded_access.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/connection/batch.hpp"
#include "iwarp/ddp/stag_table.hpp"
#include "iwarp/mpa/framer.hpp"
#include "iwarp/rdmap/transmitter.hpp"

namespace iwarp::connection {

/// Whether memory that a request names may change until the request is done. What is sent has to be
/// what its CRC was taken of, so that memory that may change is copied first.
enum class SourceMemory : bool { kStable, kMayChange };

/// What may leave. The rest of an FPDU that has begun to leave always may, and a Terminate that has
/// been ordered.
enum class MayLeave : bool {
  kRestOnly,  ///< Nothing else.
  kEverything,
};

/// What one offer may hold.
struct OutboundLimits {
  std::size_t mulpdu = 0;  ///< Octets of a ULPDU whose FPDU fits a segment (mpa::mulpdu()).
  /// Octets up to which an FPDU need not fit a segment; 0: each has to. Where there is a quantum
  /// FPDUs share it (mpa::filling_ulpdu()), but none is smaller than a segment for that.
  std::size_t max_fpdu = 0;
  MayLeave may_leave = MayLeave::kEverything;  ///< Of what there is.
  std::size_t octets = Batch::kMostOctets;     ///< After so many no further FPDU begins.
  std::size_t quantum = 0;  ///< Octets in all, unless one FPDU is longer; 0: no such limit.
};

/// A request that cannot be sent; it and what is behind it never leaves.
struct RequestFault {
  /// What is wrong.
  enum class What : std::uint8_t {
    kNotAgreed,     ///< It was submitted before the connection, which does not allow it.
    kNoAccess,      ///< It names memory that may not be read.
    kMemoryMissing  ///< That memory was registered and is not there any more.
  };
  What what = What::kNoAccess;  ///< See there.
  std::uint32_t position = 0;   ///< In the SendQueue.
  MemoryFault memory{};         ///< kMemoryMissing: where.
};

/// A Read Response that cannot be sent: the peer is to be told (RFC 5040 §7.2).
struct ResponseFault {
  rdmap::Terminate terminate;  ///< With the Read Request as far as it is unanswered (§4.8).
  MemoryFault memory{};        ///< Set if memory that was registered is not there any more.
};

/// Why the next FPDU cannot be made.
using SendFault = std::variant<RequestFault, ResponseFault>;

/// What Outbound::offer() gives. Without octets and without a fault nothing may leave now.
struct Offer {
  std::span<const iovec> pieces;   ///< The next octets of the stream, in order.
  std::optional<SendFault> fault;  ///< Set only if there are no octets: all before it has left.
  /// Set if it holds all that could leave when it was made. Not set where that was not looked at.
  bool all = false;
};

/// An FPDU of which a part has left and whose rest cannot be read any more: nothing can follow it,
/// not even a Terminate.
struct CutFault {
  std::optional<std::uint32_t> request;  ///< Its position in the SendQueue, if it was part of one.
  MemoryFault memory;                    ///< Where memory was missing.
};

/// What has left since the beginning. A message counts when its request has completed.
struct OutboundCounters {
  std::uint64_t octets = 0;  ///< Of the stream, accepted by TCP.
  std::uint64_t fpdus = 0;   ///< Of which at least one octet was accepted.
  std::uint64_t sends = 0, writes = 0, reads = 0, immediates = 0, atomics = 0;
};

/// The sending half of a connection: what was submitted, and what is owed to the peer, as octets of
/// the TCP stream, each batch a run of FPDUs (RFC 5044 §4) that leaves by one gathering write.
///
/// The owner asks for an offer(), gives it to the stream, and says by sent() how many of its octets
/// the stream has accepted; there may be none. Octets that were not accepted are offered again,
/// except that FPDUs that have not begun may be others then: what has come in meanwhile may go
/// first, and what was ended is not sent. Of an FPDU that has begun the rest is kept here, as its
/// CRC has been taken. Not thread-safe: one thread at a time. Files: outbound.cpp offers and what
/// becomes of them, outbound_plan.cpp which FPDUs an offer holds, outbound_messages.cpp short
/// messages in a row, outbound_sources.cpp where payloads are read, outbound_faults.cpp what cannot
/// be sent.
class Outbound {
 public:
  /// What it works with and does not own.
  struct Parts {
    ddp::StagTable& stags;              ///< The memory that payloads are read from.
    ddp::Accessor accessor;             ///< As whom.
    rdmap::SendQueue& requests;         ///< What is submitted.
    rdmap::ResponseQueue& responses;    ///< What is owed to the peer.
    rdmap::OutstandingRequests& reads;  ///< What the peer owes.
  };
  /// How it sends.
  struct Settings {
    mpa::Crc crc = mpa::Crc::kOn;
    mpa::Markers markers = mpa::Markers::kOff;
    rdmap::Rtr rtr = rdmap::Rtr::kNone;
    SourceMemory source = SourceMemory::kMayChange;
  };
  /// The most elements of a gather list.
  static constexpr std::size_t kMaxSges = Batch::kMaxSges;

  /// Begins at the first octet of Full Operation.
  Outbound(const Parts& parts, const Settings& settings);

  // Octets.
  /// The next octets of the stream, which `batch` holds until sent(). No other call in between.
  Offer offer(Batch& batch, const OutboundLimits& limits);
  /// The stream has accepted the first `accepted` octets of what was offered. Of all octets ever
  /// accepted it has released the first `released`: those it does not read any more. What it still
  /// reads is kept here, and `batch` gets new room.
  std::optional<CutFault> sent(Batch& batch, std::size_t accepted, std::uint64_t released);
  /// The stream has released that many octets of all it has accepted.
  void released(std::uint64_t octets);
  /// From now on every payload is copied, however long, or (false) as is best: copying finds out
  /// which request has lost its memory, when the stream could not read a batch.
  void copy_all(bool all) { copies_all_ = all; }
  /// As it was told.
  [[nodiscard]] bool copies_all() const { return copies_all_; }
  /// Octets that the stream has accepted.
  [[nodiscard]] std::uint64_t accepted() const { return counters_.octets; }
  /// The rest of an FPDU that has begun to leave.
  [[nodiscard]] ConstBytes rest() const { return ConstBytes(rest_).subspan(rest_from_); }
  /// Whether something would be offered if everything may leave, as far as is known without trying.
  [[nodiscard]] bool has_more() const;
  /// How FPDUs are framed, as constructed.
  [[nodiscard]] mpa::Markers markers() const { return framer_.markers(); }

  // Requests.
  /// Whether the request at `position` of the SendQueue has left, at least its last FPDU's start.
  /// Precondition: it is still in the queue.
  [[nodiscard]] bool has_left(std::uint32_t position) const;
  /// How many requests are done (RFC 5040 §5.5), from the oldest on: their memory is the
  /// submitter's again, and what the peer owes for them is here. They are in the counters; to be
  /// retired.
  std::uint32_t count_done(std::uint64_t released);
  /// The request at `position` is a RequestFault when its turn comes: kNotAgreed.
  void refuse_at(std::uint32_t position) { refused_ = position; }

  /// Whether a request that sends nothing (kLocal) is next: all before it has left.
  [[nodiscard]] bool local_due() const { return transmitter_.local_due(); }
  /// Its position in the SendQueue. Precondition: local_due().
  [[nodiscard]] std::uint32_t next_request() const { return transmitter_.cursor().request; }
  /// It has been performed. Precondition: local_due().
  void skip_local();

  // The Terminate.
  /// From now on the only thing that begins to leave is this; the first call counts.
  void terminate(const rdmap::Terminate& message) { transmitter_.terminate(message); }
  /// Whether there is a Terminate to be sent, or sent.
  [[nodiscard]] bool terminating() const { return transmitter_.terminating(); }
  /// Whether it has begun to leave.
  [[nodiscard]] bool terminated() const { return transmitter_.cursor().terminated; }

  /// What has left.
  [[nodiscard]] const OutboundCounters& counters() const { return counters_; }

 private:
  // What the stream still reads: this half outlives the stream.
  struct Held {
    std::uint64_t end = 0;        // when so many octets have been released it goes
    std::vector<std::byte> rest;  // of an FPDU that had begun to leave
    GatherList gather{0, 0};
    std::vector<ddp::StagTable::Pin> pins;
  };
  // What has begun to leave of a batch: up to and with an FPDU of `run`, which ends at `end`.
  struct Begun {
    const Batch::Run* run = nullptr;
    std::uint32_t count = 0;  // of its FPDUs
    std::size_t end = 0;
  };
  [[nodiscard]] Batch::Position position() const { return {transmitter_.cursor(), framer_}; }
  void go_to(const Batch::Position& position);
  Begun settle_runs(Batch& batch, std::size_t accepted);
  void settle_run(const Batch::Run& run, std::size_t accepted, Begun& begun);
  std::optional<CutFault> keep_rest(const Batch& batch, const Begun& begun, std::size_t accepted);
  void drop_rest(std::uint64_t released);
  void hold(Batch& batch);
  [[nodiscard]] bool is_done(std::uint32_t position, std::uint64_t released) const;
  void count(rdmap::Operation operation);

  // outbound_plan.cpp
  bool plan(Batch& batch, const OutboundLimits& limits, std::optional<SendFault>& fault);
  bool plan_run(Batch& batch, const OutboundLimits& limits, std::optional<SendFault>& fault);
  [[nodiscard]] bool refuses_next() const;
  [[nodiscard]] std::size_t longest_ulpdu(const Batch& batch, const OutboundLimits& limits) const;
  [[nodiscard]] bool fits(const Batch& batch, std::size_t ulpdu,
                          const OutboundLimits& limits) const;
  [[nodiscard]] std::uint32_t most_alike(const Batch& batch, const rdmap::OutgoingSegment& segment,
                                         const OutboundLimits& limits) const;
  std::uint32_t frame_run(Batch& batch, rdmap::OutgoingSegment& segment, std::uint32_t most,
                          const OutboundLimits& limits, MemoryFault& missing);

  // outbound_messages.cpp
  std::uint32_t frame_messages(Batch& batch, const rdmap::OutgoingSegment& segment,
                               const OutboundLimits& limits);
  [[nodiscard]] std::size_t most_messages(const Batch& batch,
                                          const rdmap::OutgoingSegment& first) const;
  std::optional<ConstBytes> whole_payload(Batch& batch, std::uint32_t position);

  // outbound_sources.cpp
  [[nodiscard]] mpa::PayloadUse use_for(std::size_t length, SourceMemory memory) const;
  std::optional<SendFault> gather(Batch& batch, const rdmap::OutgoingSegment& segment,
                                  std::uint32_t count);
  std::optional<SendFault> gather_request(Batch& batch, const rdmap::OutgoingSegment& segment,
                                          std::uint32_t length);
  std::optional<SendFault> gather_list(Batch& batch, const rdmap::OutgoingSegment& segment,
                                       std::uint32_t length);
  std::optional<SendFault> gather_response(Batch& batch, const rdmap::OutgoingSegment& segment,
                                           std::uint32_t length);

  Result<std::byte*, ddp::Error> pin(Batch& batch, Stag stag, ddp::Rights wanted, TaggedOffset from,
                                     std::uint64_t length);

  // outbound_faults.cpp
  [[nodiscard]] ResponseFault refuse_read(const rdmap::OutgoingSegment& response,
                                          ddp::Error error) const;
  [[nodiscard]] SendFault memory_missing(const rdmap::OutgoingSegment& segment,
                                         MemoryFault memory) const;

  Parts parts_;
  SourceMemory source_;
  ddp::StagTable::Recent recent_;
  bool copies_all_ = false;
  mpa::Framer framer_;
  rdmap::Transmitter transmitter_;
  std::vector<std::byte> rest_;  // of an FPDU that has begun to leave, from rest_from_ on
  std::size_t rest_from_ = 0;
  std::vector<Held> held_;  // oldest first
  std::optional<std::uint32_t> refused_;
  std::uint32_t counted_ = 0;  // of the requests those before this have been counted, or flushed
  OutboundCounters counters_;
};

}  // namespace iwarp::connection
