#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "iwarp/mpa/deframer.hpp"
#include "iwarp/mpa/framer.hpp"
#include "mpa/helpers.hpp"
#include "mpa/naive_framer.hpp"

namespace iwarp::mpa::test {
namespace {

// Sizes near which something happens: nothing, the pad, one marker interval, several.
std::size_t any_length(Random& random) {
  switch (random.between(0, 6)) {
    case 0: return random.between(0, 8);
    case 1: return random.between(480, 520);
    case 2: return random.between(990, 1030);
    case 3: return random.between(0, 3000);
    case 4: return random.one_in(20) ? random.between(60000, 64768) : random.between(14, 60);
    default: return random.between(14, 200);
  }
}

// A ULPDU cut into a header and payload pieces, some of them empty.
struct CutUlpdu {
  Bytes header;
  std::vector<Bytes> payload;

  CutUlpdu(ConstBytes ulpdu, Random& random) {
    const std::size_t head = random.between(0, std::min<std::size_t>(ulpdu.size(), 28));
    header = to_bytes(ulpdu.first(head));
    for (ConstBytes rest = ulpdu.subspan(head); !rest.empty();) {
      const std::size_t size = random.one_in(3) ? rest.size() : random.between(0, rest.size());
      payload.push_back(to_bytes(rest.first(size)));
      rest = rest.subspan(size);
    }
  }
  [[nodiscard]] std::vector<ConstBytes> pieces() const { return {payload.begin(), payload.end()}; }
};

struct Sent {
  std::vector<Bytes> ulpdus;
  Bytes wire;
  Bytes oracle;
};

Sent send_any(Crc crc, Markers markers, Random& random) {
  Sent sent;
  Framer framer(crc, markers);
  NaiveFramer naive(crc, markers);
  GatherList out(1U << 21U, 16384);
  std::deque<CutUlpdu> memory;  // referenced until the bytes are taken
  for (std::size_t left = random.between(1, 12); left > 0; --left) {
    sent.ulpdus.push_back(pattern(any_length(random), static_cast<unsigned>(left)));
    const CutUlpdu& cut = memory.emplace_back(sent.ulpdus.back(), random);
    const PayloadUse use = random.one_in(2) ? PayloadUse::kCopy : PayloadUse::kReference;
    framer.frame(cut.header, cut.pieces(), use, out);
    naive.frame(sent.ulpdus.back());
  }
  sent.wire = flatten(out);
  sent.oracle = naive.stream();
  return sent;
}

// Receives a stream that arrives in the given pieces, each time in a block of exactly the bytes
// that are there.
class Receiver {
 public:
  Receiver(Crc crc, Markers markers) : deframer_(crc, markers) {}

  void arrive(ConstBytes segment) {
    tail_.insert(tail_.end(), segment.begin(), segment.end());
    if (tail_.size() < wanted_) return;
    const ExactBuffer block{tail_};
    MutableBytes bytes = block.span();
    while (take(bytes)) {
    }
    tail_ = to_bytes(bytes);
  }

  [[nodiscard]] const std::vector<Bytes>& ulpdus() const { return ulpdus_; }
  [[nodiscard]] bool at_boundary() const { return tail_.empty(); }

 private:
  bool take(MutableBytes& bytes) {
    const Deframed result = deframer_.next(bytes);
    if (const auto* fpdu = std::get_if<Fpdu>(&result)) {
      ulpdus_.push_back(to_bytes(fpdu->ulpdu));
      bytes = bytes.subspan(fpdu->wire_size);
      return true;
    }
    const auto* more = std::get_if<NeedMore>(&result);
    EXPECT_NE(more, nullptr) << "an error in a valid stream";
    if (more == nullptr) return false;
    EXPECT_GT(more->wire_size, bytes.size());
    EXPECT_LE(more->wire_size, kMaxFpduWireSize);
    wanted_ = more->wire_size;
    return false;
  }

  Deframer deframer_;
  Bytes tail_;
  std::size_t wanted_ = 0;
  std::vector<Bytes> ulpdus_;
};

std::size_t any_segment(Random& random, std::size_t left) {
  switch (random.between(0, 3)) {
    case 0: return left;
    case 1: return 1;
    case 2: return std::min<std::size_t>(left, 1448);
    default: return random.between(1, left);
  }
}

void check_stream(Crc crc, Markers markers, std::uint64_t seed) {
  Random random(seed);
  const Sent sent = send_any(crc, markers, random);
  ASSERT_EQ(sent.wire, sent.oracle) << "seed " << seed;
  Receiver receiver(crc, markers);
  for (ConstBytes rest(sent.wire); !rest.empty();) {
    const std::size_t size = any_segment(random, rest.size());
    receiver.arrive(rest.first(size));
    rest = rest.subspan(size);
  }
  ASSERT_TRUE(receiver.at_boundary()) << "seed " << seed;
  ASSERT_EQ(receiver.ulpdus(), sent.ulpdus) << "seed " << seed;
}

TEST(Stream, AnyUlpdusSurviveAnySegmentation) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    for (Crc crc : kCrcs) {
      for (Markers markers : kMarkersChoices) {
        check_stream(crc, markers, seed);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Stream, UlpdusSurviveArrivingOctetByOctet) {
  for (Crc crc : kCrcs) {
    for (Markers markers : kMarkersChoices) {
      NaiveFramer naive(crc, markers);
      std::vector<Bytes> ulpdus;
      for (std::size_t length = 0; length < 700; length += 13) {
        ulpdus.push_back(pattern(length, 5));
        naive.frame(ulpdus.back());
      }
      Receiver receiver(crc, markers);
      for (const std::byte& octet : naive.stream()) receiver.arrive({&octet, 1});
      EXPECT_EQ(receiver.ulpdus(), ulpdus);
    }
  }
}

TEST(Stream, BytesOfAForeignProtocolNeverReachTheUlp) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    Bytes noise(70000);
    for (std::byte& octet : noise) octet = static_cast<std::byte>(random.between(0, 255));
    Deframer deframer(Crc::kOn, random.pick(kMarkersChoices));
    const ExactBuffer bytes{noise};
    EXPECT_EQ(std::get<Error>(deframer.next(bytes.span())), Error::kCrcMismatch) << seed;
  }
}

}  // namespace
}  // namespace iwarp::mpa::test
