#include "file_service/files/file_io.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>

#include "cli/scratch_directory.hpp"

namespace iwarp::cli::file_service {
namespace {

FileTime stamping_time() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return {now.tv_sec, now.tv_nsec};
}

TEST(FileFacts, OnceSettledAreOlderThanAnyLaterChange) {
  const ScratchDirectory scratch;
  for (int i = 0; i < 20; ++i) {
    scratch.write("file", std::to_string(i));
    const Fd file(::open((scratch.path() / "file").c_str(), O_RDONLY | O_CLOEXEC));
    const auto facts = settled_file_facts(file);
    ASSERT_TRUE(facts);
    EXPECT_LT(facts->changed, stamping_time());
    EXPECT_EQ(*regular_file_facts(file), *facts);
  }
}

TEST(FileFacts, OfAnotherFileDiffer) {
  const ScratchDirectory scratch;
  scratch.write("one", "same");
  scratch.write("other", "same");
  const Fd one(::open((scratch.path() / "one").c_str(), O_RDONLY | O_CLOEXEC));
  const Fd other(::open((scratch.path() / "other").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_NE(regular_file_facts(one)->inode, regular_file_facts(other)->inode);
  EXPECT_EQ(regular_file_facts(one)->device, regular_file_facts(other)->device);
}

TEST(FileFacts, ThereAreNoneOfADirectory) {
  const ScratchDirectory scratch;
  const Fd directory(::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_FALSE(settled_file_facts(directory));
}

}  // namespace
}  // namespace iwarp::cli::file_service
