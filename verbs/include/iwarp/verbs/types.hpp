#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/export.hpp"
#include "iwarp/base/flags.hpp"
#include "iwarp/base/strong_id.hpp"

namespace iwarp::verbs {

/// What may be done with a memory region. Local read is always allowed.
enum class Access : unsigned {
  kNone = 0,
  kLocalWrite = 1,         ///< Receives and Read sinks (see DeviceAttributes::read_sink).
  kRemoteWrite = 2,        ///< The peer's RDMA Writes; needs kLocalWrite.
  kRemoteRead = 4,         ///< The peer's RDMA Reads.
  kRemoteAtomic = 8,       ///< The peer's atomic operations; needs kLocalWrite.
  kRemoteInvalidate = 16,  ///< The peer may end the region's life by a Send with Invalidate.
  kWindowBind = 32,        ///< Memory windows may be bound to the region.
  kZeroBased = 64,  ///< Tagged Offsets, and the addresses of Sge, count from 0 instead of the
                    ///< memory's address.
  kOnDemand = 128,  ///< The memory is not looked at when it is registered: all of it need not be
                    ///< there before it is used, and what lies there may change.
};
IWARP_FLAGS(Access)

/// What may be done with memory that this side and its peers only read: there is no flag that would
/// let anything write to it. Local read is always allowed. Each flag is the one of Access.
enum class SourceAccess : unsigned {
  kNone = 0,
  kRemoteRead = 4,         ///< The peer's RDMA Reads.
  kRemoteInvalidate = 16,  ///< As Access::kRemoteInvalidate.
  kZeroBased = 64,         ///< As Access::kZeroBased.
  kOnDemand = 128,         ///< As Access::kOnDemand.
};
IWARP_FLAGS(SourceAccess)

/// One piece of a gather or scatter list: local memory inside a registered region. It only names
/// the memory: whether a request may write there is up to the region's registration.
struct Sge {
  const void* address = nullptr;  ///< The first octet, as the program sees it.
  std::uint32_t length = 0;       ///< Octets.
  Stag lkey;                      ///< The lkey() of the region that holds all of it.
};

/// Memory of the program that need not be registered: for SendFlags::kInline only. Precondition:
/// below 2^32 octets.
inline Sge inline_sge(ConstBytes data) {
  return {data.data(), static_cast<std::uint32_t>(data.size()), Stag{}};
}

/// A buffer that a peer may name: what goes on the wire in an application's own messages.
struct RemoteBuffer {
  Stag stag;                 ///< MemoryRegion::rkey() or a window's.
  std::uint64_t offset = 0;  ///< Tagged Offset of the first octet.
  std::uint64_t length = 0;  ///< Octets.
};

/// What a send work request does.
enum class Opcode : std::uint8_t {
  kSend,
  kSendInvalidate,
  kWrite,
  kRead,
  kImmediate,       ///< RFC 7306 §6: eight octets, which complete a receive of the peer.
  kWriteImmediate,  ///< A Write, and kImmediate behind it. One request with one completion.
  kFetchAdd,    ///< RFC 7306 §5.1.1. The value before comes into `sges`, 8 octets, in the order of
                ///< this host. The remote address is a multiple of 8.
  kCmpSwap,     ///< RFC 7306 §5.1.2. Likewise.
  kBindWindow,  ///< Opens a memory window, see BindWr.
  kInvalidate,  ///< Ends a window of type 2, or a fast region, here: `invalidate_stag`.
  kRegister,    ///< Registers memory under a fast region's STag, see RegisterWr.
};

/// What an atomic operation works with. kFetchAdd adds `data`; `mask` marks the most significant
/// bit of each field, 0 makes one field of 64 bits. kCmpSwap: if the bits of `compare_mask` equal
/// those of `compare`, the bits of `mask` become those of `data`. A plain swap compares no bits.
struct AtomicOperands {
  std::uint64_t data = 0;                   ///< What is added, or stored.
  std::uint64_t mask = 0;                   ///< The fields of a sum, or the bits that are stored.
  std::uint64_t compare = 0;                ///< kCmpSwap only: what is expected.
  std::uint64_t compare_mask = UINT64_MAX;  ///< kCmpSwap only: the bits that are compared.
};

/// The kinds of memory windows. Type 1 belongs to its PD, and binding gives it a new STag. Type 2
/// is open to the QP that bound it alone, under the key its owner chose, until the QP is destroyed;
/// the peer may invalidate it.
enum class WindowType : std::uint8_t { k1, k2 };

/// kBindWindow: makes [address, address + length) of a region reachable under a window's STag. The
/// region was registered with kWindowBind, and with kLocalWrite if `access` lets the peer write.
/// A window of type 2 must not be bound; one of type 1 moves, and a length of 0 unbinds it.
struct BindWr {
  Stag window;  ///< Index of the window and the key to bind under: its STag from then on.
  Stag region;  ///< lkey.
  void* address = nullptr;        ///< Of the first octet to open, inside the region.
  std::uint64_t length = 0;       ///< Octets.
  Access access = Access::kNone;  ///< Of the remote rights and kZeroBased.
};

/// kRegister: registers memory under the STag of a fast region that is not in force.
struct RegisterWr {
  Stag stag;  ///< Index of the region and the key to register under: its STag from then on.
  void* address = nullptr;        ///< Of the first octet; allocated while the registration lives.
  std::uint64_t length = 0;       ///< Octets.
  Access access = Access::kNone;  ///< As for ProtectionDomain::register_memory().
};

/// How a send work request is treated; a set.
enum class SendFlags : unsigned {
  kNone = 0,
  kSignaled = 1,   ///< Complete with an entry in the CQ even on success.
  kFence = 2,      ///< Wait until the Reads before it have completed.
  kSolicited = 4,  ///< Sends only: wake a peer that waits for solicited completions.
  kInline = 8,     ///< Sends and Writes only: copy the data at post; the lkeys are not looked at.
};
IWARP_FLAGS(SendFlags)

/// A send work request. `sges` is read during the post; the memory it names stays there until the
/// request has completed (kInline: only until the post returns). What the peer gets of octets that
/// change meanwhile is not defined, but see SourceBuffers.
struct SendWr {
  std::uint64_t wr_id = 0;                 ///< The program's own; its completion bears it.
  Opcode opcode = Opcode::kSend;           ///< What the request does.
  SendFlags flags = SendFlags::kSignaled;  ///< How.
  /// Gathered in order; of kRead and atomics the sink. At most QpCapacity::max_send_sge elements,
  /// together below 2^32 octets (RFC 5041 §5.2).
  std::span<const Sge> sges{};
  Stag remote_stag{};               ///< Writes, kRead, atomics.
  std::uint64_t remote_offset = 0;  ///< Writes, kRead, atomics: Tagged Offset.
  Stag invalidate_stag{};        ///< kSendInvalidate: the peer's STag that ends; kInvalidate: ours.
  std::uint64_t immediate = 0;   ///< k…Immediate: on the wire its most significant octet leads.
  AtomicOperands atomic{};       ///< kFetchAdd, kCmpSwap.
  const BindWr* bind = nullptr;  ///< kBindWindow; read during the post.
  const RegisterWr* registration = nullptr;  ///< kRegister; read during the post.
};

/// A receive work request: one message of at most the total length of `sges`.
struct RecvWr {
  std::uint64_t wr_id = 0;      ///< The program's own; its completion bears it.
  std::span<const Sge> sges{};  ///< Filled in order; at most QpCapacity::max_recv_sge elements.
};

/// What becomes of a list of requests of which one is refused.
enum class Posting : std::uint8_t {
  kUntilRefused,  ///< Those before it are posted.
  kAllOrNone,     ///< None is posted.
};

/// How a work request ended.
enum class Status : std::uint8_t {
  kSuccess,
  kLocalLengthError,      ///< A message longer than its receive, or a request too long.
  kLocalQpError,          ///< A defect inside the QP's own processing.
  kLocalProtectionError,  ///< An SGE outside its region, of another PD, or without local write.
  kWindowBindError,       ///< A window, region or STag that may not be bound or registered so.
  kFlushed,               ///< The QP left its working state before the request was done.
  kRemoteInvalidRequest,  ///< The peer refused the request as malformed.
  kRemoteAccessError,     ///< The peer refused the STag, the range or the access.
  kRemoteOperationError,  ///< The peer failed.
  kUnreachable,           ///< No connection came about for what was posted early.
  kFatal,                 ///< The stream was lost with the request under way.
};

/// A name for a status, as in messages: "local protection error".
IWARP_API const char* to_string(Status status);

/// What kind of request a completion is about: kReceive, or as Opcode says. Sends with and without
/// invalidation are both kSend, a kWriteImmediate is a kWrite.
enum class CompletionOpcode : std::uint8_t {
  kSend,
  kWrite,
  kRead,
  kReceive,
  kImmediate,
  kFetchAdd,
  kCmpSwap,
  kBindWindow,
  kInvalidate,
  kRegister,
};

/// Which of the optional fields of a Completion hold; a set.
enum class CompletionFlags : std::uint8_t {
  kNone = 0,
  kInvalidated = 1,  ///< `invalidated` names the STag that the peer's Send ended.
  kSolicited = 2,    ///< The peer asked for a solicited event.
  kImmediate = 4,  ///< `immediate` holds what the peer's Immediate Data said; nothing was placed in
                   ///< the receive.
};
IWARP_FLAGS(CompletionFlags)

/// A completion queue entry. If `status` is not kSuccess only wr_id, status and qp_number hold.
struct Completion {
  std::uint64_t wr_id = 0;  ///< Of the request.
  /// QueuePair::number() of the queue pair it was posted to, or that took it from a shared queue.
  std::uint32_t qp_number = 0;
  std::uint32_t byte_length = 0;  ///< kReceive: length of the message, or of the Write right before
                                  ///< the Immediate Data; kRead: of the data.
  Stag invalidated{};             ///< With CompletionFlags::kInvalidated.
  std::uint64_t immediate = 0;    ///< With CompletionFlags::kImmediate.
  Status status = Status::kSuccess;                   ///< How the request ended.
  CompletionOpcode opcode = CompletionOpcode::kSend;  ///< What the request was.
  CompletionFlags flags = CompletionFlags::kNone;     ///< What else is known.
};

/// Limits of a queue pair.
struct QpCapacity {
  std::uint32_t max_send_wr = 128;  ///< Sends under way; up to DeviceAttributes::max_qp_wr.
  std::uint32_t max_recv_wr = 128;  ///< Likewise of receives.
  std::uint32_t max_send_sge = 4;  ///< Elements of a send request; up to DeviceAttributes::max_sge.
  std::uint32_t max_recv_sge = 4;  ///< Elements of a receive; likewise.
  std::uint32_t max_inline = 64;   ///< Octets; 64 is what adapters have as well.
};

/// Which completions of the send queue enter the CQ.
enum class Signaling : std::uint8_t { kPerRequest, kAll };

/// What a program does with the memory of a Send or a Write until the request has completed.
enum class SourceBuffers : std::uint8_t {
  /// It may write there: the peer gets, of each octet, what it was or what it has become. The stack
  /// copies a payload while it takes the CRC, so that what was checked is what is sent.
  kMayChange,
  /// It does not: a payload of more than 2 KiB is sent from where it is, without that copy. A
  /// program that breaks the promise loses the connection, as the CRC is wrong then.
  kStable,
};

/// The least QpOptions::max_fpdu but for 0, in octets: an FPDU whose ULPDU has the 128 octets that
/// every MULPDU has (RFC 5044 §3), without Markers.
inline constexpr std::uint32_t kLeastMaxFpdu = 136;
/// The greatest, in octets: every FPDU with a ULPDU of up to 64,768 octets, MPA's limit, is within.
inline constexpr std::uint32_t kGreatestMaxFpdu = 65536;
/// Whether it is a value that QpOptions::max_fpdu may have.
constexpr bool is_max_fpdu(std::uint64_t octets) {
  return octets == 0 || (octets >= kLeastMaxFpdu && octets <= kGreatestMaxFpdu);
}

/// The life of a queue pair.
enum class QpState : std::uint8_t {
  kIdle,        ///< Created; receives may be posted.
  kConnecting,  ///< Start-up frames under way.
  kRts,         ///< RDMA mode.
  kClosing,     ///< Graceful end: what was posted is still sent.
  kTerminate,   ///< A Terminate was sent or received.
  kError,       ///< Over; everything posted completes as flushed.
};
/// A name for a state, as in messages.
IWARP_API const char* to_string(QpState state);

/// What the device can do.
struct DeviceAttributes {
  std::string name;       ///< What Device::open() takes: "soft", "soft:eth0".
  std::string provider;   ///< "software" or an adapter's.
  std::string stream;     ///< The stream device below: "kernel". An adapter's own name.
  std::string driver;     ///< Of an adapter, as the kernel calls it: "siw", "cxgb4".
  std::uint8_t port = 0;  ///< Of an adapter: the one that is used, counted from 1.
  std::vector<std::string> addresses;  ///< Of an adapter: its port's IP addresses, which are those
                                       ///< that it had when it was opened.
  /// What the device does instead of this host: crc, markers, full.
  std::vector<std::string> offloads;
  std::uint32_t max_qp = 0;          ///< Queue pairs.
  std::uint32_t max_cq = 0;          ///< Completion queues.
  std::uint32_t max_mr = 0;          ///< Memory regions, fast regions included.
  std::uint32_t max_pd = 0;          ///< Protection domains.
  std::uint32_t max_qp_wr = 0;       ///< Of QpCapacity, for sends and for receives.
  std::uint32_t max_sge = 0;         ///< Elements of a request.
  std::uint32_t max_cqe = 0;         ///< Completions that a queue can hold.
  std::uint32_t max_inline = 0;      ///< Octets of SendFlags::kInline.
  std::uint32_t max_ird = 0;         ///< Reads and atomics of the peer under way on one connection.
  std::uint32_t max_ord = 0;         ///< The same of this side.
  std::uint64_t max_mr_size = 0;     ///< Octets of a region.
  std::size_t max_private_data = 0;  ///< Octets, with MPA revision 2's own four taken off.
  std::uint32_t max_mw = 0;          ///< Memory windows.
  std::uint32_t max_srq = 0;         ///< Shared receive queues.
  std::uint32_t max_srq_wr = 0;      ///< Receives posted to one of them.
  bool srq_share = false;            ///< SrqOptions::share.
  bool resizes_cq = false;           ///< CompletionQueue::resize().
  bool remote_invalidate = false;    ///< Regions can be made with Access::kRemoteInvalidate.
  Access read_sink = Access::kLocalWrite;  ///< What memory must permit that Reads of this side
                                           ///< write to. Adapters want kRemoteWrite as well, as
                                           ///< the response names that memory by its STag (RFC 5040
                                           ///< §4.4): the peer has it from the request, and may
                                           ///< then write there as long as it is registered.
  bool mpa_choices = false;  ///< A start-up obeys ConnectOptions::mpa_revision, peer_to_peer,
                             ///< require_crc and want_markers; else the device chooses.
  bool rfc7306 = false;  ///< Atomic operations and Immediate Data. Peers need not have them: RFC
                         ///< 7306 leaves it to programs to agree; a peer without ends the stream.
};

/// What an RDMAP Terminate said (RFC 5040 §4.8).
struct TerminateInfo {
  std::uint8_t layer = 0;         ///< 0 RDMAP, 1 DDP, 2 MPA (Figure 9).
  std::uint8_t type = 0;          ///< Error Type.
  std::uint8_t code = 0;          ///< Error Code.
  std::vector<std::byte> header;  ///< The headers it carried, if any.
};

/// Counters of one queue pair since it connected. They only grow; those of one moment need not
/// match each other while the connection is busy.
struct QpCounters {
  std::uint64_t sends = 0;         ///< Sends that have left.
  std::uint64_t writes = 0;        ///< RDMA Writes that have left, those with immediate included.
  std::uint64_t reads = 0;         ///< RDMA Reads that are done.
  std::uint64_t receives = 0;      ///< Messages of the peer that took a receive.
  std::uint64_t immediates = 0;    ///< Immediate Data Messages that have left.
  std::uint64_t atomics = 0;       ///< Atomic operations that are done.
  std::uint64_t peer_writes = 0;   ///< RDMA Writes of the peer, whole ones.
  std::uint64_t peer_reads = 0;    ///< Read Requests of the peer.
  std::uint64_t peer_atomics = 0;  ///< Atomic Requests of the peer.
  std::uint64_t octets_sent = 0;   ///< On the wire, MPA included.
  std::uint64_t octets_received = 0;  ///< Likewise.
  std::uint64_t fpdus_sent = 0;       ///< FPDUs, and so DDP Segments, that have left.
  std::uint64_t fpdus_received = 0;   ///< FPDUs that came whole and were right.
};

/// An event that no completion reports.
struct AsyncEvent {
  /// What has happened.
  enum class Kind : std::uint8_t {
    kQpFatal,  ///< A connection ended by a Terminate of either side, for a reason other than the
               ///< next two.
    kQpAccessError,   ///< The peer asked for memory it must not have (error type 1 of RDMAP and
                      ///< DDP).
    kQpRequestError,  ///< The peer sent what makes no sense (error type 2).
    kCqOverrun,  ///< More completions than the queue holds: those are lost, and the queue takes no
                 ///< more.
    kPathLost,   ///< Not raised by the software provider; the Diagnosis tells of a lost network.
    kSrqLimitReached,   ///< Fewer receives are posted than the limit that was armed.
    kQpLastWqeReached,  ///< A queue pair that has ended takes no more from its shared receive
                        ///< queue: what it took has completed.
    kDeviceFatal,  ///< The device has failed, or was removed: its connections end, and nothing can
                   ///< be made of it any more. Not raised by the software provider.
  };
  Kind kind = Kind::kQpFatal;  ///< What has happened.
  std::uint32_t number = 0;    ///< Of the QP, the CQ or the SRQ; 0 if it is about the device.
  std::string message;         ///< The same for people, with the object's number.
};

}  // namespace iwarp::verbs
