#include "file_service/files/pending_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "cli/bytes_of.hpp"
#include "cli/scratch_directory.hpp"

namespace iwarp::cli::file_service {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Fd open_directory(const std::filesystem::path& path) {
  return Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

class PendingFileTest : public testing::Test {
 protected:
  PendingFile start(const std::string& leaf) {
    auto file = PendingFile::create(open_directory(scratch_.path()), leaf);
    EXPECT_TRUE(file);
    return *std::move(file);
  }

  ScratchDirectory scratch_;
};

TEST_F(PendingFileTest, AppearsWhenPublished) {
  PendingFile file = start("name");
  ASSERT_TRUE(file.append(bytes_of("hello "), 0));
  ASSERT_TRUE(file.append(bytes_of("world"), 6));
  EXPECT_FALSE(scratch_.names().contains("name"));
  ASSERT_TRUE(file.sync());
  ASSERT_TRUE(file.publish());
  EXPECT_EQ(scratch_.read("name"), "hello world");
}

TEST_F(PendingFileTest, LeavesNothingWhenAbandoned) {
  {
    PendingFile file = start("name");
    ASSERT_TRUE(file.append(bytes_of("x"), 0));
  }
  EXPECT_THAT(scratch_.names(), IsEmpty());
}

TEST_F(PendingFileTest, ReplacesAFileOfThatName) {
  scratch_.write("name", "old");
  PendingFile file = start("name");
  ASSERT_TRUE(file.append(bytes_of("new"), 0));
  EXPECT_EQ(scratch_.read("name"), "old");
  ASSERT_TRUE(file.publish());
  EXPECT_EQ(scratch_.read("name"), "new");
  EXPECT_THAT(scratch_.names(), ElementsAre("name"));
}

TEST_F(PendingFileTest, ReplacesALinkAndNotWhatIsBehindIt) {
  scratch_.write("target", "old");
  std::filesystem::create_symlink("target", scratch_.path() / "name");
  PendingFile file = start("name");
  ASSERT_TRUE(file.append(bytes_of("new"), 0));
  ASSERT_TRUE(file.publish());
  EXPECT_EQ(scratch_.read("target"), "old");
  EXPECT_EQ(scratch_.read("name"), "new");
}

TEST_F(PendingFileTest, DoesNotReplaceADirectoryAndLeavesNothing) {
  std::filesystem::create_directory(scratch_.path() / "name");
  {
    PendingFile file = start("name");
    EXPECT_FALSE(file.publish());
  }
  EXPECT_THAT(scratch_.names(), ElementsAre("name"));
}

TEST_F(PendingFileTest, SurvivesAMove) {
  PendingFile first = start("name");
  PendingFile second = std::move(first);
  ASSERT_TRUE(second.append(bytes_of("x"), 0));
  ASSERT_TRUE(second.publish());
  EXPECT_EQ(scratch_.read("name"), "x");
}

TEST_F(PendingFileTest, KeepsLargeContent) {
  const std::string piece(3U << 20, 'p');
  PendingFile file = start("large");
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(file.append(bytes_of(piece), i * piece.size()));
  }
  ASSERT_TRUE(file.publish());
  EXPECT_EQ(scratch_.read("large").size(), 8 * piece.size());
}

TEST_F(PendingFileTest, OfAKilledProcessIsRemovedAndOfALivingOneIsNot) {
  const std::string stale = std::string(kTemporaryPrefix) + "stale";
  const std::string held = std::string(kTemporaryPrefix) + "held";
  std::filesystem::create_directory(scratch_.path() / "sub");
  std::filesystem::create_symlink(scratch_.path(), scratch_.path() / "sub" / "loop");
  scratch_.write(stale, "");
  scratch_.write("sub/" + stale, "");
  scratch_.write("sub/kept", "");
  scratch_.write(held, "");
  const Fd holder(::open((scratch_.path() / held).c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(holder.get(), LOCK_EX), 0);
  remove_stale_files(open_directory(scratch_.path()));
  EXPECT_THAT(scratch_.names(), ElementsAre(held, "sub"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "sub" / stale));
  EXPECT_TRUE(std::filesystem::exists(scratch_.path() / "sub" / "kept"));
}

}  // namespace
}  // namespace iwarp::cli::file_service
