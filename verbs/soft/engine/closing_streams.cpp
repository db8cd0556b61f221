#include "soft/engine/closing_streams.hpp"

#include <algorithm>
#include <utility>

#include "iwarp/process/log.hpp"

namespace iwarp::verbs::soft {

void ClosingStreams::see_off(ClosingStream closing) {
  {
    const Guard lock(mutex_);
    arriving_.push_back(std::move(closing));
  }
  wake_.raise();
}

void ClosingStreams::take_in(Time now) {
  std::vector<ClosingStream> arriving;
  {
    const Guard lock(mutex_);
    arriving.swap(arriving_);
  }
  for (ClosingStream& stream : arriving) {
    attempts_.attempt([&] { begin(std::move(stream), now); });
  }
}

void ClosingStreams::begin(ClosingStream stream, Time now) {
  const std::uint64_t token = next_token_;
  next_token_ += 2;
  const auto at = closing_.try_emplace(token, std::move(stream), now).first;
  // One that the system refuses to watch moves on at each look.
  static_cast<void>(sockets_.add(at->second.descriptor(), token, {}));
  serve(token, now);
}

void ClosingStreams::serve(std::uint64_t token, Time now) {
  const auto at = closing_.find(token);
  if (at == closing_.end()) return;
  if (turn(at->second, now)) {
    closing_.erase(at);
    return;
  }
  const auto interest = at->second.interest();
  if (interest.read || interest.write) sockets_.modify(at->second.descriptor(), token, interest);
}

// True once it is over. Only the log can tell that something may not have arrived: the queue pair
// has gone.
bool ClosingStreams::turn(StreamCloser& closer, Time now) {
  if (closer.turn(now) != StreamCloser::State::kOver) return false;
  if (!closer.failure().empty()) {
    static process::LogLimit limit;
    limit.log(process::LogLevel::kWarn, closer.failure());
  }
  sockets_.remove(closer.descriptor());
  return true;
}

void ClosingStreams::look_at_all(Time now) {
  for (auto at = closing_.begin(); at != closing_.end();) {
    bool over = false;
    attempts_.attempt([&] { over = turn(at->second, now); });
    at = over ? closing_.erase(at) : std::next(at);
  }
}

bool ClosingStreams::any() const {
  const Guard lock(mutex_);
  return !closing_.empty() || !arriving_.empty();
}

bool ClosingStreams::none_undelivered() const {
  return std::ranges::all_of(closing_, [](const auto& each) {
    return each.second.state() == StreamCloser::State::kAwaitsFin;
  });
}

}  // namespace iwarp::verbs::soft
