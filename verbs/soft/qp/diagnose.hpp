#pragma once

#include <cstdint>
#include <string>
#include <system_error>

#include "iwarp/base/guarded_access.hpp"
#include "iwarp/rdmap/terminate.hpp"
#include "iwarp/verbs/connection.hpp"
#include "iwarp/verbs/diagnosis.hpp"

/// How a queue pair of the software provider puts its end into words.
namespace iwarp::verbs::soft {

/// An end without a Terminate.
Diagnosis abortive_end(EndedBy by, EndLayer layer, std::string sentence);
Diagnosis graceful_end(EndedBy by, EndLayer layer, std::string sentence);
/// What TCP says of a connection that is gone.
Diagnosis connection_lost(const std::error_code& error);

/// A Terminate as the program is told of it.
TerminateInfo terminate_info(const rdmap::Terminate& message);
/// A fault that the peer is told of by `message`.
Diagnosis fault_found_here(const rdmap::Terminate& message, std::string sentence);
/// A fault that the peer tells of.
Diagnosis fault_found_by_peer(const rdmap::Terminate& message);

/// What was asked of memory that was not there.
enum class Attempt : std::uint8_t { kRead, kWrite };
/// A sentence about memory that the program has taken away after registering it.
std::string missing_memory(Attempt attempt, const MemoryFault& fault);

/// A start-up that failed.
Diagnosis failed_startup(const Error& error);

/// Logs how the connection between these endpoints ended, one line. Not to be called under a lock.
struct EndOfConnection {
  std::uint32_t qp_number = 0;
  Endpoint local, remote;  ///< Unspecified before there was a connection.
  Diagnosis why;
};
void log_end(const EndOfConnection& end);
/// The asynchronous event that tells of it: of faults that either stack has found.
std::optional<AsyncEvent> event_of(const EndOfConnection& end);

}  // namespace iwarp::verbs::soft
