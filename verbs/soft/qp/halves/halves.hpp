#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>

#include "soft/engine/driven.hpp"
#include "soft/qp/halves/receive_half.hpp"
#include "soft/qp/halves/transmit_half.hpp"
#include "soft/qp/parts.hpp"

namespace iwarp::verbs::soft {

/// The two halves of a queue pair, each run by one thread at a time, whichever comes: the receive
/// half reads the stream, places and completes receives; the transmit half sends, and completes
/// send requests. What one half wants done by the other, or outside of both, it leaves, and the
/// thread does it when it has left the half (settle()); neither half ever waits for the other, for
/// a completion queue or for the program. Files: halves.cpp turns, halves_deadlines.cpp
/// time-outs, halves_end.cpp the end. Any thread.
class QpHalves final : public Driven {
 public:
  explicit QpHalves(QpParts& parts);

  // Driven
  [[nodiscard]] int descriptor() const override;
  [[nodiscard]] Waits waits() const override;
  [[nodiscard]] Pollers pollers() const override;
  [[nodiscard]] bool busy() const override { return receive_half_.busy() || transmit_half_.busy(); }
  void drive() override;
  void flush() override;
  bool receive() override;
  void transmit() override;
  void look_again() override;
  void cannot_be_watched(const std::error_code& why) override;
  bool check_deadlines() override;
  [[nodiscard]] std::optional<HalfFpdu> half_fpdu() const override {
    return receive_half_.half_fpdu();
  }
  void give_up_half_fpdu(std::chrono::steady_clock::time_point since) override;
  void close() override;
  [[nodiscard]] bool delivered() const override;
  [[nodiscard]] bool over() const override { return parts_.life.is_over(); }

  /// Requests of so many octets have been posted: sends them, or leaves them for the poller, which
  /// has the socket anyway.
  void on_sends_posted(std::size_t octets);
  /// Receives have been posted.
  void on_receives_posted();
  /// Has both halves flush what is posted, if the connection's end demands that, and settles.
  void flush_posted();
  /// Does what was wanted inside a half, now that the caller is inside none.
  void settle();
  /// Of the stream.
  [[nodiscard]] std::uint64_t octets_received() const;
  /// Whether nothing completes any more.
  [[nodiscard]] bool drained() const;
  /// The connection ends as far as there is memory for it: the look at the deadlines goes on with
  /// what is missing.
  void end_after(const std::exception& thrown) noexcept;
  /// Ends both halves: returns when no thread is inside, and lets none in any more.
  void release();
  /// Takes the connection out of its engine and its queues.
  void detach();

 private:
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
  [[nodiscard]] bool is_left_to_poller() const;

  // halves_deadlines.cpp
  void observe_progress();
  [[nodiscard]] bool finds_nothing_to_read();
  void judge(connection::Overdue what);

  // halves_end.cpp
  void conclude();
  [[nodiscard]] bool settled();
  void tell_end();
  void report_end(const EndOfConnection& end) noexcept;

  QpParts& parts_;
  ReceiveHalf receive_half_{parts_};
  TransmitHalf transmit_half_{parts_};
  std::atomic<bool> released_{false};  // the halves are closed, or about to be

  /// When look_again() asks the system anew; by one thread at a time.
  struct NextLook {
    TimeSource::Time at{};
    std::chrono::milliseconds pause{0};
  };
  NextLook next_look_;
};

}  // namespace iwarp::verbs::soft
