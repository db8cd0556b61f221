#include "pipe.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace iwarp::tcp_offload::sim {

std::size_t Pipe::accept(std::span<const iovec> pieces, std::size_t limit, SimMemory memory) {
  const auto pending = static_cast<std::size_t>(accepted_ - acknowledged_);
  std::size_t room =
      std::min(limit, options_.send_buffer - std::min(options_.send_buffer, pending));
  std::size_t taken = 0;
  for (const iovec& piece : pieces) {
    const std::size_t n = std::min(piece.iov_len, room - taken);
    if (n == 0) continue;
    Chunk chunk;
    chunk.bytes = ConstBytes(static_cast<const std::byte*>(piece.iov_base), n);
    if (memory == SimMemory::kCopied) {
      chunk.copy.assign(chunk.bytes.begin(), chunk.bytes.end());
      chunk.bytes = chunk.copy;
    }
    unsent_.push_back(std::move(chunk));
    taken += n;
  }
  accepted_ += taken;
  unsent_size_ += taken;
  if (taken != 0) plan_transmit();
  return taken;
}

void Pipe::finish() {
  if (fin_wanted_ || stopped_) return;
  fin_wanted_ = true;
  plan_transmit();
}

void Pipe::send_reset() {
  if (stopped_) return;
  stop();
  put_under_way({Kind::kReset, {}});
}

void Pipe::stop() {
  stopped_ = true;
  unsent_.clear();
  unsent_size_ = 0;
  released_ = accepted_;
}

void Pipe::own_memory() {
  for (Chunk& chunk : unsent_) {
    if (!chunk.copy.empty()) continue;
    chunk.copy.assign(chunk.bytes.begin(), chunk.bytes.end());
    chunk.bytes = chunk.copy;
  }
}

std::uint64_t Pipe::released() const {
  const bool at_once =
      options_.memory == SimMemory::kCopied && options_.release_lag == Nanoseconds(0);
  return at_once ? accepted_ : released_;
}

void Pipe::take(MutableBytes into) {
  const auto end = received_.begin() + static_cast<std::ptrdiff_t>(into.size());
  std::copy(received_.begin(), end, into.begin());
  received_.erase(received_.begin(), end);
}

void Pipe::consumed(std::size_t n) {
  consumed_ += n;
  // Small steps of the window are not announced (RFC 9293 §3.8.6.2.2): segments would only get
  // smaller and smaller.
  const std::size_t step = std::min(options_.emss, (options_.receive_buffer + 1) / 2);
  if (abandoned_ || consumed_ - announced_ < step) return;
  announced_ = consumed_;
  world_.schedule.after(options_.latency, [this, up_to = announced_] {
    window_base_ = up_to;
    transmit();
  });
}

void Pipe::abandon() {
  abandoned_ = true;
  received_.clear();
}

void Pipe::check_reset() {
  if (faults_.reset && *faults_.reset < arrived_) break_connection();
}

void Pipe::plan_transmit() {
  if (transmit_planned_) return;
  transmit_planned_ = true;
  world_.schedule.soon([this] {
    transmit_planned_ = false;
    transmit();
  });
}

void Pipe::transmit() {
  while (!stopped_ && unsent_size_ != 0) {
    const std::uint64_t held = transmitted_ - window_base_;
    if (held >= options_.receive_buffer) return;
    const auto window = static_cast<std::size_t>(options_.receive_buffer - held);
    const std::size_t wanted = world_.random.pick(options_.segment);
    put_under_way(
        {Kind::kData, next_payload(std::min({wanted, options_.emss, window, unsent_size_}))});
  }
  if (fin_wanted_ && !fin_sent_ && !stopped_) {
    fin_sent_ = true;
    put_under_way({Kind::kFin, {}});
  }
}

std::vector<std::byte> Pipe::next_payload(std::size_t size) {
  std::vector<std::byte> payload;
  payload.reserve(size);
  while (payload.size() < size) {
    ConstBytes& bytes = unsent_.front().bytes;
    const ConstBytes part = bytes.first(std::min(bytes.size(), size - payload.size()));
    payload.insert(payload.end(), part.begin(), part.end());
    bytes = bytes.subspan(part.size());
    if (bytes.empty()) unsent_.pop_front();
  }
  unsent_size_ -= size;
  transmitted_ += size;
  return payload;
}

void Pipe::put_under_way(Segment segment) {
  const auto jitter = options_.jitter == Nanoseconds(0)
                          ? Nanoseconds(0)
                          : Nanoseconds(static_cast<Nanoseconds::rep>(world_.random.below(
                                static_cast<std::uint64_t>(options_.jitter.count()) + 1)));
  last_arrival_ = std::max(last_arrival_, world_.schedule.now() + options_.latency + jitter);
  under_way_.push_back(std::move(segment));
  world_.schedule.at(last_arrival_, [this] { deliver(); });
}

// Each segment has one such event; each event delivers the oldest segment.
void Pipe::deliver() {
  if (stall_before(under_way_.front())) {
    world_.schedule.at(faults_.stalled_until, [this] { deliver(); });
    return;
  }
  Segment segment = std::move(under_way_.front());
  under_way_.pop_front();
  if (cut_) return;
  switch (segment.kind) {
    case Kind::kData: return deliver_data(std::move(segment.data));
    case Kind::kFin:
      world_.schedule.note(Happening::kFin, arrived_);
      fin_arrived_ = true;
      return observer_.on_arrival();
    case Kind::kReset:
      world_.schedule.note(Happening::kReset, arrived_);
      return observer_.on_reset();
  }
}

bool Pipe::stall_before(const Segment& segment) {
  auto& stalls = faults_.stalls;
  while (!stalls.empty() && stalls.begin()->first < arrived_ + segment.data.size()) {
    const TimePoint until = world_.schedule.now() + stalls.begin()->second;
    faults_.stalled_until = std::max(faults_.stalled_until, until);
    stalls.erase(stalls.begin());
  }
  return world_.schedule.now() < faults_.stalled_until;
}

void Pipe::deliver_data(std::vector<std::byte> data) {
  const bool breaks = faults_.reset && *faults_.reset < arrived_ + data.size();
  if (breaks) data.resize(static_cast<std::size_t>(*faults_.reset - arrived_));
  apply_flips(data);
  arrived_ += data.size();
  world_.schedule.note(Happening::kData, arrived_);
  if (!abandoned_) received_.insert(received_.end(), data.begin(), data.end());
  if (!data.empty()) {
    if (!abandoned_) plan_acknowledgement();  // an end that is gone answers by a reset
    observer_.on_arrival();
  }
  if (breaks) break_connection();
}

void Pipe::break_connection() {
  faults_.reset.reset();
  observer_.on_break();
}

void Pipe::apply_flips(MutableBytes data) {
  auto flip = faults_.flips.lower_bound(arrived_);
  for (; flip != faults_.flips.end() && flip->first < arrived_ + data.size(); ++flip) {
    data[static_cast<std::size_t>(flip->first - arrived_)] ^= flip->second;
  }
}

void Pipe::plan_acknowledgement() {
  world_.schedule.after(options_.latency, [this, up_to = arrived_] { acknowledge(up_to); });
}

void Pipe::acknowledge(std::uint64_t up_to) {
  acknowledged_ = up_to;
  world_.schedule.after(options_.release_lag,
                        [this, up_to] { released_ = std::max(released_, up_to); });
  observer_.on_room();
}

}  // namespace iwarp::tcp_offload::sim
