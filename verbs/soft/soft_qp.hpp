#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "iwarp/connection/core.hpp"
#include "iwarp/connection/life.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/blamed_read.hpp"
#include "soft/diagnose.hpp"
#include "soft/handoff_lock.hpp"
#include "soft/host.hpp"
#include "soft/inherited.hpp"
#include "soft/memory_registry.hpp"
#include "soft/places.hpp"
#include "soft/receive_queue.hpp"
#include "soft/scratch.hpp"
#include "soft/shared_receive_queue.hpp"
#include "soft/soft_cq.hpp"
#include "soft/soft_qp_init.hpp"
#include "soft/startup/startup.hpp"

namespace iwarp::verbs::soft {

/// The most elements of a gather or scatter list.
inline constexpr std::uint32_t kMaxSges = connection::Outbound::kMaxSges;

/// A queue pair of the software provider: the protocol cores between a stream and the queues.
///
/// It has two halves, each run by one thread at a time, whichever comes: the receive half reads the
/// stream, places and completes receives; the transmit half sends, and completes send requests.
/// What the receive half wants sent it leaves to the transmit half and asks for it when it has left
/// (settle()); neither half ever waits for the other, for a completion queue or for the program.
/// Files: qp_startup.cpp from idle to RDMA mode, soft_qp.cpp state, qp_end.cpp the ends that the
/// program asks for, qp_deadlines.cpp time-outs, qp_post.cpp posting, qp_receive.cpp and
/// qp_transmit.cpp the halves, qp_complete.cpp the ends of send requests, qp_source_fault.cpp what
/// cannot be sent, qp_local.cpp the work requests that send nothing, qp_report.cpp what it says of
/// itself.
class SoftQp final : public provider::Qp,
                     public ResponderQp,
                     public std::enable_shared_from_this<SoftQp> {
 public:
  using Init = SoftQpInit;
  explicit SoftQp(Init init);
  /// As whom this queue pair uses memory.
  [[nodiscard]] ddp::Accessor accessor() const { return {init_.pd->id(), stream_}; }
  ~SoftQp() override;
  SoftQp(const SoftQp&) = delete;
  SoftQp& operator=(const SoftQp&) = delete;

  // provider::Qp
  Result<void, PostError> post_send(std::span<const SendWr> requests,
                                    Posting posting = Posting::kUntilRefused) override;
  Result<void, PostError> post_receive(std::span<const RecvWr> requests) override;
  void allow_peer(Access rights) override { allowed_.store(rights_of(rights)); }
  Outcome<void> connect(const Endpoint& to, const ConnectOptions& options) override;
  Outcome<void> adopt(StreamingSocket& socket, const ConnectOptions& options) override;
  void disconnect() override;
  void close() override;
  void abort() override;
  void release() override;
  [[nodiscard]] bool drained() const override;
  /// Whether the peer's TCP has acknowledged everything that will be sent. Any thread.
  [[nodiscard]] bool delivered() const;
  [[nodiscard]] QpState state() const override;
  [[nodiscard]] std::uint32_t number() const override { return init_.number; }
  [[nodiscard]] QpCapacity capacity() const override { return init_.capacity; }
  [[nodiscard]] QpCounters counters() const override;
  [[nodiscard]] std::optional<TerminateInfo> terminate_sent() const override;
  [[nodiscard]] std::optional<TerminateInfo> terminate_received() const override;
  [[nodiscard]] Diagnosis diagnosis() const override;

  // ResponderQp
  bool begin_startup() override;
  void finish_startup(StartupResult result) override;
  [[nodiscard]] std::string capture() const override { return init_.capture; }

  // For those who drive.
  /// A poller's turn: sends what was left for it, receives what is there.
  void drive();
  /// The sending part of a poller's turn.
  void flush();
  /// The engine's turn to receive; a bounded amount. False if there may be more.
  bool receive();
  /// Sends what may be sent.
  void transmit();
  /// An FPDU of which a part has come.
  struct HalfFpdu {
    std::chrono::steady_clock::time_point since;  ///< Its first octet, in running time.
    std::size_t octets;                           ///< What is kept of it.
    boost::asio::ip::address peer;
  };
  /// Any thread.
  [[nodiscard]] std::optional<HalfFpdu> half_fpdu() const;
  /// Others need the room that it takes: the connection is lost, unless the rest has come.
  void give_up_half_fpdu(std::chrono::steady_clock::time_point since);
  /// Looks at the time-outs. True while one is running.
  bool check_deadlines();
  /// Whether it waits for what no socket tells of: a receive, the peer's acknowledgement, or memory
  /// for the system to send with.
  [[nodiscard]] bool wants_looks() const {
    return awaits_receive() || awaits_delivery() || awaits_memory();
  }
  /// Looks whether that has come. One thread at a time.
  void look_again();
  [[nodiscard]] int descriptor() const;
  /// Whether anything can still come in, now.
  [[nodiscard]] bool reads() const { return !input_ended() && !awaits_receive(); }
  /// Whether nothing comes in any more.
  [[nodiscard]] bool input_ended() const { return connection::input_has_ended(life()); }
  /// The system refuses to say when its socket is ready: the connection is lost.
  void cannot_be_watched(const std::error_code& why);
  /// Whether a message has come that awaits a receive; nothing behind it is read.
  [[nodiscard]] bool awaits_receive() const { return awaits_receive_.load(); }
  /// Whether the socket took less than it was offered, and will tell when it takes more.
  [[nodiscard]] bool blocked() const { return sending_.load() == Sending::kAwaitsSocket; }
  [[nodiscard]] SoftCq& send_cq() const { return *init_.send_cq; }
  [[nodiscard]] SoftCq& recv_cq() const { return *init_.recv_cq; }
  /// Whether each poll of either queue looks at this queue pair, ready or not.
  [[nodiscard]] bool polled_each_time() const {
    return init_.send_cq->polls_all() && init_.recv_cq->polls_all();
  }
  /// Whether a thread is inside one of the halves.
  [[nodiscard]] bool busy() const { return rx_.held() || tx_.held(); }
  /// Whether a poller has the socket; the engine says so.
  void set_leased(bool leased) { leased_.store(leased); }
  [[nodiscard]] bool leased() const { return leased_.load(); }

 private:
  struct Link;
  using Clock = std::chrono::steady_clock;
  enum class StartUp : std::uint8_t {
    kNone,      // not asked for, or refused at once
    kUnderWay,  // connecting
    kUntold,    // over, which the program does not know yet
    kTold,
  };

  /// Whether the transmit half has been told to wait.
  enum class Sending : std::uint8_t {
    kGoesOn,
    kAwaitsSocket,  // which tells
    kAwaitsMemory,  // of the system, which nothing tells of
  };

  // soft_qp.cpp: life and state.
  using StartInitiator = std::function<Outcome<std::unique_ptr<Startup>>(StartupHandler)>;
  Outcome<void> start_up(const StartInitiator& start);
  bool claim_startup();
  bool advance(StartUp from, StartUp to) { return phase_.compare_exchange_strong(from, to); }
  [[nodiscard]] bool connecting() const { return phase_.load() == StartUp::kUnderWay; }
  /// Whether completions wait for the program to be told how the start-up ended.
  [[nodiscard]] bool silent() const {
    const StartUp phase = phase_.load();
    return phase == StartUp::kUnderWay || phase == StartUp::kUntold;
  }
  void conclude(StartupResult result);
  void enter_rdma_mode(RdmaMode mode);
  void watch_peer(const RdmaMode& mode) const;
  std::error_code attach_to_queues();
  bool fail_startup(const Error& error);
  bool fail_startup(Diagnosis why);
  bool abort_startup();
  bool tell(const ConnectionEvent& event);
  void tell_failure(const ConnectionEvent& event);
  void end_silence();
  /// With `only_in`: nothing, if the connection has left that course meanwhile.
  void apply(connection::LifeEvent event, std::optional<connection::Course> only_in = std::nullopt);
  /// The connection is given up: for a fault of this side that no Terminate tells of, or for `why`.
  void lost(const std::string& reason);
  void lost(Diagnosis why);
  void enter(connection::Course course);
  void finish_close();
  void post_close();
  /// Takes a step of this connection. What it throws, where memory is short, is the end of this
  /// connection, and of no other.
  template <typename Step>
  void contain(Step step) {
    try {
      step();
    } catch (const std::exception& thrown) {
      end_after(thrown);
    }
  }
  void end_after(const std::exception& thrown) noexcept;
  void settle();
  [[nodiscard]] connection::Life life() const { return life_.load(); }
  [[nodiscard]] connection::Course course() const { return life().course; }
  /// Whether the program has called close() or abort().
  [[nodiscard]] bool given_up() const { return life().program == connection::Program::kGone; }
  [[nodiscard]] bool flushing() const;
  [[nodiscard]] rdmap::ReceiveSource& receives();
  [[nodiscard]] Places& receive_places();
  [[nodiscard]] bool flushing_receives() const;
  [[nodiscard]] bool keeps_receives() const;
  void explain(Diagnosis why);
  // Under state_mutex_:
  void explain_locked(Diagnosis why);
  void explain_lost_output(const connection::Life& before, const connection::Life& next) noexcept;
  void set_gone_deadline(const connection::Life& before, const connection::Life& next);
  void report_end(const EndOfConnection& end) noexcept;
  [[nodiscard]] Error error_of_end() const;
  [[nodiscard]] EndOfConnection end_of_connection() const;
  void order_terminate(const rdmap::Terminate& message, std::string reason);

  // qp_deadlines.cpp.
  enum class Overdue : std::uint8_t { kNothing, kUnreachable, kStep };
  /// A point of running time as the deadlines have it.
  [[nodiscard]] Clock::rep from_now(std::chrono::milliseconds time) const;
  [[nodiscard]] Overdue overdue() const;
  [[nodiscard]] bool finds_nothing_to_read();
  void renew_deadline_by_progress();
  void judge(Overdue what);
  void judge_step();
  void judge_draining();
  void end_if_idle();

  // qp_post.cpp.
  [[nodiscard]] std::errc check(const SendWr& request) const;
  [[nodiscard]] bool submits_no_more() const;
  /// Whether requests may be posted before there is a connection.
  [[nodiscard]] bool takes_early_posts() const { return init_.connectionless || accepted_.load(); }
  void publish(Link& link);
  [[nodiscard]] std::optional<PostError> check_all(std::span<const SendWr> requests) const;
  [[nodiscard]] bool comes_late() const;
  void append(const SendWr& request);
  void append_late(const SendWr& request);
  [[nodiscard]] bool may_defer(std::size_t octets);

  // qp_receive.cpp: under rx_.
  void flush_if_wanted();
  bool receive_some();
  MutableBytes take_in(std::size_t& have, MutableBytes data);
  template <typename Step>
  connection::InboundStop gather_events(Step step, connection::InboundEvents& events);
  template <typename Step>
  void run(Step step);
  [[nodiscard]] connection::InboundLimits inbound_limits() const;
  void on_events(const connection::InboundEvents& events);
  bool await_receive(connection::InboundEvents& events);
  void set_awaits_receive(bool awaits);
  bool offer_awaiting(connection::InboundEvents& events);
  bool resume();
  void on_fault(const rdmap::Fault& fault, std::optional<std::uint32_t> faulty_read);
  void on_peer_terminate(const rdmap::Terminate& message,
                         std::optional<std::uint32_t> terminated_read);
  void on_first_fpdu();
  void end_input(connection::LifeEvent event);
  void forget_descriptor() noexcept;
  void end_of_input(bool inside_fpdu);
  void lose_input(const std::error_code& error);
  void keep(ConstBytes rest, ConstBytes behind);
  void account_kept();
  void flush_receives(Status first);
  void complete_receives(std::span<const rdmap::SendDelivered> deliveries);
  void complete_receive(const rdmap::SendDelivered& delivered);

  // qp_transmit.cpp: under tx_.
  void transmit_some();
  void send_all();
  bool send_batch();
  void yield_turn();
  void await_memory();
  void lose_sending(const std::error_code& error);
  [[nodiscard]] connection::MayLeave may_leave() const;
  void discard_completions();
  void take_terminate();

  // qp_complete.cpp: under tx_.
  void retire();
  [[nodiscard]] bool peer_has_gone() const;
  void flush_requests();
  void complete_head(Status status);
  void flush_late_posts();

  void count(rdmap::Operation operation);

  // qp_source_fault.cpp: under tx_.
  void blame(const connection::SendFault& fault);
  bool goes_on_after(const tcp_offload::Sent& sent);
  void lose_cut_fpdu(const connection::CutFault& cut);

  // qp_local.cpp: the first under post_send_lock_, the others under tx_.
  void append_local(const SendWr& request);
  [[nodiscard]] bool local_due() const;
  bool perform_local();
  [[nodiscard]] static CompletionOpcode completion_opcode(Opcode opcode);
  [[nodiscard]] CompletionOpcode completion_opcode(std::uint32_t position) const;

  struct LocalWork;
  struct BadRequest {
    std::uint32_t position;
    Status status;
    std::string reason;
  };
  [[nodiscard]] bool issued(std::uint32_t position) const;
  [[nodiscard]] bool nothing_left_to_send();
  [[nodiscard]] bool rtr_comes_first() const;
  void end_draining();
  [[nodiscard]] bool awaits_memory() const { return sending_.load() == Sending::kAwaitsMemory; }
  /// Whether both halves have ended, and the peer's TCP still owes acknowledgements.
  [[nodiscard]] bool awaits_delivery() const {
    return input_ended() && course() == connection::Course::kDraining;
  }

  Init init_;
  const ddp::StreamId stream_;
  std::atomic<ddp::Rights> allowed_{ddp::Rights::kRemoteWrite | ddp::Rights::kRemoteRead |
                                    ddp::Rights::kRemoteAtomic};  ///< The peer, see allow_peer().
  const Origin origin_;
  rdmap::SendQueue send_queue_;
  Places send_places_;
  ReceiveQueue receive_queue_;
  Places receive_places_;
  SharedReceives shared_receives_;           // in place of receive_queue_, if there is an SRQ
  std::unique_ptr<LocalWork[]> local_work_;  // by place in the send queue; made at the first one
  mutable SpinLock post_send_lock_;
  SpinLock post_receive_lock_;
  std::vector<Completion> late_posts_;  // behind disconnect(): to be flushed; under post_send_lock_

  std::unique_ptr<Link> owned_link_;
  std::atomic<Link*> link_{nullptr};
  std::atomic<connection::Life> life_;  // changed under state_mutex_
  static_assert(decltype(life_)::is_always_lock_free);
  std::atomic<StartUp> phase_{StartUp::kNone};
  std::atomic<bool> accepted_{false};  // the program has said yes to a peer
  std::unique_ptr<Startup> startup_;   // guarded by state_mutex_
  mutable std::mutex state_mutex_;
  Diagnosis diagnosis_;  // why it ended; guarded by state_mutex_
  std::optional<TerminateInfo> terminate_sent_, terminate_received_;  // likewise
  std::optional<rdmap::Terminate> ordered_terminate_;  // likewise; taken by the transmit half
  bool graceful_ = true;                               // likewise

  HandoffLock rx_;
  HandoffLock tx_;
  std::atomic<bool> want_transmit_{false};  // set inside a half, done by settle()
  std::atomic<bool> released_{false};       // the halves are closed, or about to be
  std::atomic<bool> want_flush_{false};
  std::atomic<Sending> sending_{Sending::kGoesOn};
  std::atomic<bool> awaits_receive_{false};
  std::atomic<bool> receives_over_{false};  // what was posted has been flushed
  std::atomic<bool> leased_{false};
  std::atomic<bool> deferred_{false};  // posted, but left for the poller to send
  std::atomic<std::uint32_t> posted_since_drive_{0};
  std::atomic<std::size_t> octets_since_drive_{0};
  std::atomic<Clock::rep> deadline_{0};       // 0: none
  std::atomic<Clock::rep> gone_deadline_{0};  // while the program is unaware that its peer has gone
  std::atomic<Clock::rep> half_fpdu_since_{0};
  std::atomic<std::size_t> half_fpdu_octets_{0};
  std::atomic<bool> owes_close_{false};  // there was no memory for finish_close()
  BlamedRead blamed_read_;
  bool failing_ = false;  // a request has failed, and nothing behind it succeeds; under tx_
  std::optional<BadRequest> bad_request_;  // cannot be sent or performed; under tx_
};

}  // namespace iwarp::verbs::soft
