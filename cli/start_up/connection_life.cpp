#include "start_up/connection_life.hpp"

#include "format.hpp"
#include "interrupt.hpp"

namespace iwarp::cli {

namespace {

// Where the time was over, the reason names it.
std::string failure_after(const verbs::Error& error, std::chrono::steady_clock::duration took,
                          std::chrono::milliseconds limit) {
  const std::string why = error.message.empty() ? error.code.message() : error.message;
  if (took >= limit) return why;
  if (took < std::chrono::milliseconds(10)) return why + ", at once";
  return why + ", after " + human_duration(std::chrono::duration<double>(took).count());
}

std::string numbers_of(const verbs::Diagnosis& why) {
  if (!why.cause) return "";
  return fmt::format(" (Terminate of layer {}, type {}, code {})", why.cause->layer,
                     why.cause->type, why.cause->code);
}

}  // namespace

void ConnectionLife::report(const verbs::ConnectionEvent& event) {
  {
    const std::scoped_lock lock(mutex_);
    (event.kind == verbs::ConnectionEvent::Kind::kDisconnected ? end_ : outcome_) = event;
  }
  changed_.notify_all();
}

verbs::ConnectionInfo ConnectionLife::connect(verbs::QueuePair& qp, const verbs::Endpoint& to,
                                              const verbs::ConnectOptions& options,
                                              const std::function<void()>& check_interrupt) {
  const auto begin = std::chrono::steady_clock::now();
  if (const auto started = qp.start_connect(to, options); !started) {
    throw Unreachable(
        fmt::format("cannot connect to {}: {}", to.to_string(), started.error().message));
  }
  // The verbs layer ends the attempt when its time is over.
  Place event;
  while (!(event = wait_for(outcome_, kInterruptSlice))) check_interrupt();
  if (event->kind == verbs::ConnectionEvent::Kind::kRejected)
    throw Rejected(event->info.private_data);
  if (event->kind != verbs::ConnectionEvent::Kind::kEstablished) {
    throw Unreachable(
        failure_after(event->error, std::chrono::steady_clock::now() - begin, options.timeout));
  }
  return event->info;
}

auto ConnectionLife::wait_for(const Place& place, std::chrono::milliseconds timeout) -> Place {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return place.has_value(); });
  return place;
}

void ConnectionLife::sleep(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return woken_ || end_; });
  woken_ = false;
}

void ConnectionLife::wake() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

std::string why_over(const verbs::QueuePair& qp, const std::string& otherwise) {
  const verbs::Diagnosis why = qp.diagnosis();
  switch (why.by) {
    case verbs::EndedBy::kNobody: return otherwise;
    case verbs::EndedBy::kStack:
      return "this end gave up the connection: " + why.sentence + numbers_of(why);
    case verbs::EndedBy::kPeerTerminate: return why.sentence + numbers_of(why);
    default: return why.sentence.empty() ? otherwise : why.sentence;
  }
}

}  // namespace iwarp::cli
