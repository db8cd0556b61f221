#include "format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "progress_bar.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

TEST(Format, ScalesSizesByThousands) {
  EXPECT_EQ(human_size(0), "0 B");
  EXPECT_EQ(human_size(999), "999 B");
  EXPECT_EQ(human_size(1500), "1.50 kB");
  EXPECT_EQ(human_size(999'999), "1.00 MB");
  EXPECT_EQ(human_size(12'345'678), "12.3 MB");
  EXPECT_EQ(human_size(2'147'483'648), "2.15 GB");
  EXPECT_EQ(human_size(UINT64_MAX), "18447 PB");
  EXPECT_EQ(human_rate(1.17e9), "1.17 GB/s");
}

TEST(Format, WritesDurationsInReadableUnits) {
  EXPECT_EQ(human_duration(0.0321), "0.032 s");
  EXPECT_EQ(human_duration(12.34), "12.3 s");
  EXPECT_EQ(human_duration(125), "2 min 05 s");
  EXPECT_EQ(human_duration(3725), "1 h 02 min");
}

TEST(Format, JoinsWords) {
  const std::string words[] = {"one", "two", "three"};
  EXPECT_EQ(joined(words, ", "), "one, two, three");
  EXPECT_EQ(joined(std::span(words).first(1), ", "), "one");
  EXPECT_EQ(joined({}, ", "), "");
}

TEST(ProgressLine, FitsEveryWidth) {
  for (const char* name : {"f", "a-name-of-some-length", "\xE6\xBC\xA2\xE5\xAD\x97\xC3\xA4"}) {
    for (std::size_t width = 1; width < 200; ++width) {
      EXPECT_LT(columns(progress_line(name, 500, 1000, 3e9, width)), width) << name;
    }
  }
}

TEST(ProgressLine, LeavesOutWhatFitsLeast) {
  const auto line = [](std::size_t width) {
    return progress_line("a-name-of-some-length", 500'000'000, 1'000'000'000, 250e6, width);
  };
  EXPECT_THAT(line(80), testing::StartsWith("a-name-of-some-length  50% [####"));
  EXPECT_EQ(line(60), "a-name-of-some-l  50% 500 MB of 1.00 GB, 250 MB/s, 2 s left");
  EXPECT_EQ(line(40), "a-name-of-some-  50% 250 MB/s, 2 s left");
  EXPECT_EQ(line(30), "a-name-of-some-  50% 250 MB/s");
  EXPECT_EQ(line(20), "a-name-of-some  50%");
}

TEST(ProgressLine, ShowsHowFarATransferIs) {
  const std::string line = progress_line("file", 500'000'000, 1'000'000'000, 250e6, 100);
  EXPECT_THAT(line, testing::StartsWith("file  50% [####"));
  EXPECT_THAT(line, testing::HasSubstr("500 MB of 1.00 GB, 250 MB/s, 2 s left"));
  EXPECT_THAT(progress_line("file", 0, 0, 0, 80), testing::HasSubstr("100%"));
}

}  // namespace
}  // namespace iwarp::cli
