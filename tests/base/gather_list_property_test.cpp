#include <gtest/gtest.h>

#include <vector>

#include "iwarp/base/gather_list.hpp"
#include "support/random.hpp"

namespace iwarp {
namespace {

using test::Random;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kArena = 200;
constexpr std::size_t kPieces = 12;

// A GatherList beside the plain string of bytes that it stands for.
class Pair {
 public:
  explicit Pair(std::uint64_t seed) : random_(seed), source_(4096), list_(kArena, kPieces) {
    random_.fill(source_);
    first_piece_ = list_.pieces().data();
  }

  void step() {
    switch (random_.below(12)) {
      case 0: return remember();
      case 1: return go_back();
      case 2: return clear_sometimes();
      default: return add();
    }
  }

  void check() const {
    ASSERT_EQ(list_.size(), model_.size());
    ASSERT_LE(list_.pieces().size(), kPieces);
    ASSERT_LE(list_.arena_used(), kArena);
    ASSERT_EQ(list_.pieces().data(), first_piece_) << "allocated";
    Bytes gathered;
    for (const iovec& piece : list_.pieces()) {
      const auto* at = static_cast<const std::byte*>(piece.iov_base);
      gathered.insert(gathered.end(), at, at + piece.iov_len);
    }
    ASSERT_EQ(gathered, model_);
    Bytes extracted(model_.size());
    list_.extract(0, extracted);
    ASSERT_EQ(extracted, model_);
  }

 private:
  ConstBytes some(std::uint32_t most) {
    const std::uint32_t size = random_.below(most);
    return ConstBytes(source_).subspan(random_.below(2048), size);
  }

  void add() {
    const ConstBytes bytes = some(random_.one_in(2) ? 8 : 60);
    if (random_.one_in(3)) {
      if (!list_.has_room(0, 1)) return;
      list_.reference(bytes);
    } else {
      if (!list_.has_room(bytes.size(), 1)) return;
      list_.copy(bytes);
    }
    model_.insert(model_.end(), bytes.begin(), bytes.end());
  }

  void remember() { marks_.push_back({list_.mark(), model_.size()}); }

  void go_back() {
    if (marks_.empty()) return;
    const auto [mark, size] = marks_.back();
    marks_.pop_back();
    list_.rewind(mark);
    model_.resize(size);
  }

  void clear_sometimes() {
    if (!random_.one_in(4)) return;
    list_.clear();
    model_.clear();
    marks_.clear();
  }

  Random random_;
  Bytes source_, model_;
  GatherList list_;
  const iovec* first_piece_ = nullptr;
  std::vector<std::pair<GatherList::Mark, std::size_t>> marks_;
};

TEST(GatherListProperty, IsTheStringOfWhatWasAddedAndNotTakenBack) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Pair pair(seed);
    for (int i = 0; i < 200; ++i) {
      pair.step();
      ASSERT_NO_FATAL_FAILURE(pair.check()) << "seed " << seed << ", step " << i;
    }
  }
}

}  // namespace
}  // namespace iwarp
