#include "verbs/raw_peer.hpp"

#include <array>

namespace iwarp::verbs::simtest {

using tcp_offload::IoStatus;

std::vector<std::byte> RawPeer::frame(ConstBytes ulpdu) {
  GatherList list(mpa::Framer::arena_needed(ulpdu.size(), ulpdu.size(), mpa::Markers::kOn),
                  mpa::Framer::pieces_needed(1, ulpdu.size(), mpa::Markers::kOn));
  framer_.frame(ulpdu, {}, mpa::PayloadUse::kCopy, list);
  std::vector<std::byte> octets(list.size());
  list.extract(0, octets);
  return octets;
}

void RawPeer::turn() {
  if (stream_ == nullptr) return;
  while (!out_.empty()) {
    const iovec rest{out_.data(), out_.size()};
    const auto sent = stream_->send({&rest, 1});
    out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent.accepted));
    if (sent.status == IoStatus::kLost) out_.clear();
    if (sent.status != IoStatus::kOk) break;
  }
  if (finish_ && out_.empty()) stream_->shutdown_send();
  std::array<std::byte, 4096> room;
  while (reads && !ended) {
    const auto got = stream_->receive(room);
    lost = got.status == IoStatus::kLost;
    ended = lost || got.status == IoStatus::kEndOfStream;
    if (got.status != IoStatus::kOk) break;
    in_.insert(in_.end(), got.data.begin(), got.data.end());
    stream_->consume(got.data.size());
  }
  while (!bad) {
    const auto next = deframer_.next(in_);
    bad = std::holds_alternative<mpa::Error>(next);
    const auto* fpdu = std::get_if<mpa::Fpdu>(&next);
    if (fpdu == nullptr) break;
    came.emplace_back(fpdu->ulpdu.begin(), fpdu->ulpdu.end());
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(fpdu->wire_size));
  }
}

std::optional<rdmap::Terminate> RawPeer::terminate() const {
  if (came.empty() || opcode_of(came.back()) != rdmap::Opcode::kTerminate) return std::nullopt;
  return rdmap::Terminate::parse(ConstBytes(came.back()).subspan(ddp::kUntaggedHeaderSize));
}

RawPair::RawPair(const PairOptions& options, soft::Role role, const Wrap& wrap)
    : network(options.seed, options.net),
      end(network.net, options.client, 1),
      streams(network.net.make_stream_pair()),
      link(streams.link),
      peer(std::move(streams.acceptor),
           agreed_by(options, role == soft::Role::kInitiator ? soft::Role::kResponder
                                                             : soft::Role::kInitiator)
               .modes) {
  streams.connector = end.on_device(std::move(streams.connector), agreed_by(options, role));
  if (wrap) streams.connector = wrap(std::move(streams.connector));
  const bool initiator = role == soft::Role::kInitiator;
  end.enter(std::move(streams.connector), role, agreed_by(options, role),
            initiator ? options.rtr : mpa::Rtr::kNone);
}

namespace {

PairOptions of_little_room(std::chrono::milliseconds linger) {
  PairOptions options = RawPair::without_rtr();
  options.client.timeouts.linger = linger;
  options.net.send_buffer = options.net.receive_buffer = 4096;
  return options;
}

}  // namespace

StuckPair::StuckPair(std::chrono::milliseconds linger) : RawPair(of_little_room(linger)) {
  peer.reads = false;
  const Sge from = source.sge();
  post(end, send_of(1, {&from, 1}));
}

bool RawPair::run_until_closed(std::chrono::nanoseconds limit) {
  return run_until(
      [this] {
        if (peer.ended) peer.finish();
        return end.closed() && peer.ended;
      },
      limit);
}

rdmap::Opcode opcode_of(const Ulpdu& ulpdu) {
  return static_cast<rdmap::Opcode>(
      rdmap::decode_control(std::to_integer<std::uint8_t>(ulpdu.at(1))).opcode);
}

}  // namespace iwarp::verbs::simtest
