#include <gtest/gtest.h>

#include <vector>

#include "iwarp/mpa/framer.hpp"
#include "iwarp/process/memory_faults.hpp"
#include "mpa/helpers.hpp"
#include "support/vanishing_memory.hpp"

// A payload that is not there any more when it is framed.
namespace iwarp::mpa {
namespace {

using iwarp::test::Loss;
using iwarp::test::VanishingMemory;
using test::flatten;

struct Way {
  Crc crc;
  Markers markers;
  PayloadUse use;
};

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const Crc crc : {Crc::kOn, Crc::kOff}) {
    for (const Markers markers : {Markers::kOn, Markers::kOff}) {
      for (const PayloadUse use : {PayloadUse::kCopy, PayloadUse::kReference}) {
        all.push_back({crc, markers, use});
      }
    }
  }
  return all;
}

class FramerFault : public testing::TestWithParam<Way> {
 protected:
  FramerFault() { process::catch_memory_faults(); }

  MemoryFault frame(Framer& framer, std::span<const ConstBytes> payload) {
    const std::byte header[18] = {};
    return framer.frame(header, payload, GetParam().use, out);
  }

  const std::size_t page = VanishingMemory::page();
  VanishingMemory memory{4};
  GatherList out{200'000, 200};
};

INSTANTIATE_TEST_SUITE_P(InEveryWay, FramerFault, testing::ValuesIn(ways()));

TEST_P(FramerFault, IsFoundWhereverThePayloadEnds) {
  for (std::size_t lost = 0; lost < 4; ++lost) {
    memory.give_back();
    memory.lose(Loss::kNoAccess, lost);
    Framer framer(GetParam().crc, GetParam().markers);
    const ConstBytes reaches_into_it = ConstBytes(memory.bytes()).first(lost * page + 1);
    const auto fault = frame(framer, {&reaches_into_it, 1});
    ASSERT_TRUE(fault) << lost;
    EXPECT_EQ(fault.address(), memory.data() + lost * page);
  }
}

TEST_P(FramerFault, LeavesListAndStreamPositionAsTheyWere) {
  const ConstBytes all = memory.bytes();
  const ConstBytes good[] = {all.first(700), all.subspan(700, 3001)};
  const ConstBytes bad[] = {all.first(300), all.subspan(page, 100), all.subspan(page, 0)};
  Framer disturbed(GetParam().crc, GetParam().markers);
  EXPECT_FALSE(frame(disturbed, good));
  memory.lose(Loss::kTruncated, 1);
  const auto before = flatten(out);
  EXPECT_TRUE(frame(disturbed, bad));
  EXPECT_EQ(flatten(out), before);
  EXPECT_FALSE(frame(disturbed, good));
  const auto with_fault = flatten(out);

  out.clear();
  Framer undisturbed(GetParam().crc, GetParam().markers);
  EXPECT_FALSE(frame(undisturbed, good));
  EXPECT_FALSE(frame(undisturbed, good));
  EXPECT_EQ(with_fault, flatten(out));
}

}  // namespace
}  // namespace iwarp::mpa
