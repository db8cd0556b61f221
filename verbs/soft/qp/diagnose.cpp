#include "soft/qp/diagnose.hpp"

#include <new>
#include <sstream>
#include <utility>

#include "iwarp/process/log.hpp"
#include "iwarp/rdmap/describe.hpp"
#include "soft/startup/error.hpp"

namespace iwarp::verbs::soft {
namespace {

EndLayer layer_of(rdmap::Layer layer) {
  switch (layer) {
    case rdmap::Layer::kRdmap: return EndLayer::kRdmap;
    case rdmap::Layer::kDdp: return EndLayer::kDdp;
    case rdmap::Layer::kLlp: return EndLayer::kMpa;
  }
  return EndLayer::kNone;  // a peer may say anything
}

Diagnosis of_terminate(EndedBy by, const rdmap::Terminate& message, std::string sentence) {
  return {by,
          layer_of(message.cause.layer),
          false,
          terminate_info(message),
          std::move(sentence),
          rdmap::describe_headers(message)};
}

// What MPA could not live with, as opposed to what befell its TCP connection.
bool is_mpa(const std::error_code& code) {
  return code == std::errc::protocol_error || code == std::errc::no_buffer_space ||
         code == std::errc::invalid_argument;
}

}  // namespace

TerminateInfo terminate_info(const rdmap::Terminate& message) {
  std::byte octets[rdmap::Terminate::kMaxSize];
  const std::size_t size = message.encode(octets);
  return {static_cast<std::uint8_t>(message.cause.layer),
          message.cause.type,
          message.cause.code,
          {octets + rdmap::Terminate::kControlSize, octets + size}};
}

Diagnosis abortive_end(EndedBy by, EndLayer layer, std::string sentence) {
  return {by, layer, false, std::nullopt, std::move(sentence), {}};
}

Diagnosis graceful_end(EndedBy by, EndLayer layer, std::string sentence) {
  return {by, layer, true, std::nullopt, std::move(sentence), {}};
}

Diagnosis connection_lost(const std::error_code& error) {
  return abortive_end(EndedBy::kNetwork, EndLayer::kTcp, "connection lost: " + error.message());
}

Diagnosis fault_found_here(const rdmap::Terminate& message, std::string sentence) {
  return of_terminate(EndedBy::kStack, message, std::move(sentence));
}

Diagnosis fault_found_by_peer(const rdmap::Terminate& message) {
  return of_terminate(EndedBy::kPeerTerminate, message,
                      std::string("the peer terminated: ") + rdmap::describe(message.cause));
}

std::string missing_memory(Attempt attempt, const MemoryFault& fault) {
  std::ostringstream text;
  text << "registered memory at " << fault.address() << " cannot be "
       << (attempt == Attempt::kRead ? "read" : "written")
       << ": it has been unmapped, protected or truncated since";
  return text.str();
}

Diagnosis failed_startup(const Error& error) {
  if (error.code == std::errc::connection_aborted) {
    return abortive_end(EndedBy::kProgram, EndLayer::kNone, error.message);
  }
  if (is_mpa(error.code)) return abortive_end(EndedBy::kStack, EndLayer::kMpa, error.message);
  return abortive_end(EndedBy::kNetwork, EndLayer::kTcp, error.message);
}

// The program's own doing is no news to it, nor is what its connect or accept has reported.
void log_end(const EndOfConnection& end) try {
  const bool began = end.remote.port() != 0;
  const bool expected = end.why.graceful || end.why.by == EndedBy::kProgram || !began;
  const auto level = expected ? process::LogLevel::kDebug : process::LogLevel::kWarn;
  if (!process::logs(level)) return;
  const std::string between =
      began ? ", " + to_text(end.local) + " to " + to_text(end.remote) : std::string();
  static process::LogLimit limit;
  limit.log(level,
            "queue pair " + std::to_string(end.qp_number) + between + ": " + end.why.to_string());
} catch (const std::bad_alloc&) {  // the log lacks a line
}

// What the peer asked for and must not have is an access error, what makes no sense a request
// error: types 1 and 2 of RDMAP and DDP alike (RFC 5040 §4.8). All else is no fault of a request.
std::optional<AsyncEvent> event_of(const EndOfConnection& end) {
  const Diagnosis& why = end.why;
  if (!why.cause || why.graceful) return std::nullopt;
  AsyncEvent event{AsyncEvent::Kind::kQpFatal, end.qp_number,
                   "queue pair " + std::to_string(end.qp_number) + ": " + why.to_string()};
  if (why.by == EndedBy::kStack && why.layer != EndLayer::kMpa) {
    if (why.cause->type == 1) event.kind = AsyncEvent::Kind::kQpAccessError;
    if (why.cause->type == 2) event.kind = AsyncEvent::Kind::kQpRequestError;
  }
  return event;
}

}  // namespace iwarp::verbs::soft
