#include "format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "context.hpp"
#include "progress_bar.hpp"

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

TEST(Printable, ReplacesWhatSteersATerminal) {
  EXPECT_EQ(printable("a\x1B[2Jb\nc\x7F"), "a?[2Jb?c?");
  EXPECT_EQ(printable("\xC3\xA4"), "\xC3\xA4");
}

TEST(ProgressLine, FitsEveryWidth) {
  for (std::size_t width = 1; width < 200; ++width) {
    EXPECT_LT(progress_line("a-name-of-some-length", 500, 1000, 3e9, width).size(),
              std::max<std::size_t>(width, 1))
        << width;
  }
}

TEST(ProgressLine, ShowsHowFarATransferIs) {
  const std::string line = progress_line("file", 500'000'000, 1'000'000'000, 250e6, 100);
  EXPECT_THAT(line, testing::StartsWith("file  50% [####"));
  EXPECT_THAT(line, testing::HasSubstr("500 MB of 1.00 GB, 250 MB/s, 2 s left"));
  EXPECT_THAT(progress_line("file", 0, 0, 0, 80), testing::HasSubstr("100%"));
}

}  // namespace
}  // namespace iwarp::cli
