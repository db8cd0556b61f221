#include "iwarp/connection/batch.hpp"

#include <utility>

namespace iwarp::connection {
namespace {

constexpr std::size_t kArenaSize = std::size_t{512} * 1024;
constexpr std::size_t kMaxPieces = 768;

}  // namespace

Batch::Batch() : gather_(kArenaSize, kMaxPieces) {
  planned_.reserve(kMostFpdus);
  pins_.reserve(kMaxPieces);
  payload_.pieces.reserve(kMaxSges);
}

void Batch::clear() {
  gather_.clear();
  planned_.clear();
  pins_.clear();
}

void Batch::swap_room(GatherList& gather, std::vector<ddp::StagTable::Pin>& pins) {
  GatherList room(kArenaSize, kMaxPieces);
  gather = std::exchange(gather_, std::move(room));
  pins = std::exchange(pins_, {});
}

}  // namespace iwarp::connection
