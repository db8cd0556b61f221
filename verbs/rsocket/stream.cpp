#include "stream.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace iwarp::rsocket {

namespace {

/// The most octets behind one Message: the peer can copy them out while the next ones are under
/// way.
constexpr std::uint64_t kMaxChunk = 128 * 1024;

}  // namespace

int Stream::open(Sizes sizes) {
  sizes_ = sizes;
  return connection_.open(sizes);
}

void Stream::meet(const Hello& peer) {
  peer_ = peer;
  credits_ = MessageCredits(sizes_.receive_queue, peer.messages);
  outbound_ = RingSpace(peer.ring_length);
  inbound_ = RingData(sizes_.receive_buffer);
  met_ = true;
}

bool Stream::progress() {
  polled_.messages.clear();
  polled_.sent = polled_.broken = polled_.nonsense = false;
  connection_.poll(polled_);
  for (const Message& each : polled_.messages) handle(each);
  if (polled_.nonsense) break_off();
  // What failed or was flushed did so because the connection ended.
  if (polled_.broken) ended_ = true;
  const std::size_t waiting = pending_.size();
  flush();
  return polled_.sent || polled_.broken || polled_.nonsense || !polled_.messages.empty() ||
         pending_.size() != waiting;
}

void Stream::break_off() {
  ended_ = true;
  fault_ = EPROTO;
}

void Stream::handle(const Message& message) {
  if (fault_ != 0) return;
  credits_.received();
  if (!credits_.granted(message.granted) || !outbound_.release_to(message.released) ||
      !accept(message))
    break_off();
}

bool Stream::accept(const Message& message) {
  switch (message.type) {
    case MessageType::kCredit: return true;
    case MessageType::kData: return !peer_finished_ && inbound_.arrive(message.length);
    case MessageType::kMap:
      return remote_.add({message.offset, message.length, message.address, message.key});
    case MessageType::kUnmap: return remote_.remove(message.key);
    case MessageType::kFin: return !std::exchange(peer_finished_, true);
  }
  return false;
}

int Stream::post(const Connection::Write* write, Message message) {
  message.granted = credits_.granted_to_peer();
  message.released = inbound_.released();
  if (const int error = connection_.post(write, &message); error != 0) {
    ended_ = true;
    return error;
  }
  credits_.sent();
  credits_.told();
  inbound_.told();
  return 0;
}

void Stream::flush() {
  if (!met_) return;
  while (may_post_pending()) {
    if (post(nullptr, pending_.front()) == 0) pending_.pop_front();
  }
  if (ended_ || !connection_.message_room()) return;
  const bool must_tell = credits_.worth_telling() && credits_.may_return();
  if (must_tell || (inbound_.worth_telling() && credits_.may_send()))
    post(nullptr, {.type = MessageType::kCredit});
}

bool Stream::may_post_pending() const {
  if (ended_ || pending_.empty() || !connection_.message_room()) return false;
  const bool last = pending_.front().type == MessageType::kFin;
  return last ? credits_.may_finish() : credits_.may_send();
}

void Stream::receive(Scatter& to, Take take) {
  const std::uint64_t length = std::min<std::uint64_t>(to.left(), inbound_.readable());
  const RingRange range = inbound_.front(length);
  to.copy_from(connection_.received(range.first));
  to.copy_from(connection_.received(range.second));
  if (take == Take::kPeek) return;
  inbound_.consume(length);
  flush();
}

std::uint64_t Stream::writable() const {
  if (ended_ || finished_ || !pending_.empty() || !credits_.may_send()) return 0;
  return std::min(connection_.send_room(), outbound_.room_in_one_piece());
}

std::uint64_t Stream::next_chunk(std::uint64_t left) const {
  // A ring's worth in one piece would leave the peer idle until all of it is there.
  const std::uint64_t quarter = std::max<std::uint64_t>(peer_.ring_length / 4, 1);
  return std::min({left, writable(), quarter, kMaxChunk});
}

RingRange Stream::stage(Scatter& from, std::uint64_t length) {
  const RingRange range = connection_.stage(length);
  from.copy_to(connection_.staged(range.first));
  from.copy_to(connection_.staged(range.second));
  return range;
}

int Stream::send(Scatter& from) {
  while (const std::uint64_t length = next_chunk(from.left())) {
    const RingPiece place = outbound_.claim(length).first;
    const Connection::Write write{.from = stage(from, length),
                                  .address = peer_.ring_address + place.offset,
                                  .key = peer_.ring_key};
    const int error = post(&write, {.type = MessageType::kData, .length = length});
    if (error != 0) return error;
  }
  return 0;
}

void Stream::finish() {
  if (std::exchange(finished_, true)) return;
  // Of mappings the peer need not hear any more.
  pending_.assign(1, {.type = MessageType::kFin});
  flush();
}

}  // namespace iwarp::rsocket
