#include "iwarp/connection/batch.hpp"

#include <algorithm>
#include <utility>

#include "iwarp/mpa/fpdu.hpp"

namespace iwarp::connection {
namespace {

// The last FPDU may begin in front of the last octet; the rest is for rounding.
constexpr std::size_t kArenaSize = Batch::kMostOctets + mpa::kMaxFpduWireSize + 4096;
constexpr std::size_t kMaxPieces = 768;

}  // namespace

Batch::Batch() : gather_(kArenaSize, kMaxPieces) {
  runs_.reserve(kMostFpdus);
  pins_.reserve(kMaxPieces);
}

void Batch::clear() {
  gather_.clear();
  runs_.clear();
  fpdus_ = 0;
  pins_.clear();
}

void Batch::swap_room(GatherList& gather, std::vector<ddp::StagTable::Pin>& pins) {
  GatherList room(kArenaSize, kMaxPieces);
  gather = std::exchange(gather_, std::move(room));
  pins = std::exchange(pins_, {});
}

// ---- Payload ----

Batch::Payload::Payload() {
  pieces_.reserve(kMaxSges);
  taken_.reserve(kMaxSges);
}

void Batch::Payload::clear() {
  pieces_.clear();
  first_ = 0;
}

std::span<const ConstBytes> Batch::Payload::take(std::size_t octets) {
  if (pieces_.size() == 1 && pieces_[0].size() == octets) return pieces_;
  taken_.clear();
  while (octets != 0) {
    ConstBytes& piece = pieces_[first_];
    const std::size_t size = std::min(octets, piece.size());
    taken_.push_back(piece.first(size));
    piece = piece.subspan(size);
    if (piece.empty()) ++first_;
    octets -= size;
  }
  return taken_;
}

}  // namespace iwarp::connection
