#pragma once

#include <atomic>
#include <memory>

#include "iwarp/ddp/memory.hpp"
#include "iwarp/process/forks.hpp"
#include "iwarp/provider/inherited.hpp"
#include "soft/qp/blamed_read.hpp"
#include "soft/qp/init.hpp"
#include "soft/qp/life.hpp"
#include "soft/qp/link.hpp"
#include "soft/qp/start_phase.hpp"
#include "soft/qp/wanted.hpp"
#include "soft/qp/work/deferral.hpp"
#include "soft/qp/work/receive_work.hpp"
#include "soft/qp/work/send_work.hpp"

namespace iwarp::verbs::soft {

/// What the halves of a queue pair, its start-up and the program's calls have in common. Each part
/// says which threads may touch it.
struct QpParts {
  explicit QpParts(SoftQpInit with);

  const process::Origin origin;
  const SoftQpInit init;
  const ddp::StreamId stream;        ///< As which the peer reaches memory.
  std::atomic<bool> connectionless;  ///< See provider::QpInit; until use_manager().
  Wanted wanted;
  QpLife life;
  StartPhase phase;
  SendWork sends;
  Deferral deferral;  ///< Of `sends`.
  ReceiveWork receives;
  BlamedRead blamed_read;
  /// Whether the requests that were posted before the end have been flushed. Receives are flushed
  /// behind them: a program takes the first completion that fails for the one that tells why.
  std::atomic<bool> requests_flushed{false};
  /// What the peer may do through this queue pair.
  std::atomic<ddp::Rights> allowed{ddp::Rights::kRemoteWrite | ddp::Rights::kRemoteRead |
                                   ddp::Rights::kRemoteAtomic};
  /// Once there is a connection. Made by the start-up, before the life says so.
  std::atomic<Link*> link{nullptr};
  std::unique_ptr<Link> owned_link;
  /// The queue pair, of which this is a part, and as which engines and pollers know it.
  std::weak_ptr<void> self;
  Driven* driven = nullptr;

  [[nodiscard]] ddp::Accessor accessor() const { return {init.pd->id(), stream}; }
  [[nodiscard]] MemoryRegistry& memory() const { return *init.services->memory; }
  [[nodiscard]] EndOfConnection end_of_connection() const;
  void discard_completions();
  void want_read() { init.services->sockets.want_read(*driven); }    ///< As SocketService.
  void want_write() { init.services->sockets.want_write(*driven); }  ///< The same.
  void look_again() { init.services->sockets.look_again(*driven); }  ///< The same.
};

}  // namespace iwarp::verbs::soft
