#include "file_service/server/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/scratch_directory.hpp"
#include "context.hpp"

namespace iwarp::cli::file_service {
namespace {

TEST(SafeName, TakesOrdinaryNames) {
  for (const char* name : {"a", "a.txt", ".hidden", "...", "a/b/c", "a b", "\xC3\xA4", "a..b",
                           "-rf", "~", "CON", "a:b", "%2e%2e"}) {
    EXPECT_TRUE(is_safe_name(name)) << name;
  }
  EXPECT_TRUE(is_safe_name(std::string(255, 'x')));
}

TEST(SafeName, RefusesWaysOut) {
  for (const std::string_view name : {std::string_view(""),
                                      std::string_view("/"),
                                      std::string_view("/etc/passwd"),
                                      std::string_view("."),
                                      std::string_view(".."),
                                      std::string_view("../x"),
                                      std::string_view("a/../b"),
                                      std::string_view("a/.."),
                                      std::string_view("./a"),
                                      std::string_view("a/./b"),
                                      std::string_view("a//b"),
                                      std::string_view("a/"),
                                      std::string_view("a\\b"),
                                      std::string_view("..\\x"),
                                      std::string_view("a\0b", 3),
                                      std::string_view("\0", 1),
                                      std::string_view("a\nb"),
                                      std::string_view("a\x7F"),
                                      std::string_view("\x1B[2J"),
                                      std::string_view(".iwarp-partial-x"),
                                      std::string_view("a/.iwarp-partial-x")}) {
    EXPECT_FALSE(is_safe_name(name)) << name;
  }
  EXPECT_FALSE(is_safe_name(std::string(256, 'x')));
  std::string deep;
  while (deep.size() <= kMaxName) deep += "x/";
  EXPECT_FALSE(is_safe_name(deep + "x"));
}

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    std::filesystem::create_directories(root() / "sub");
    outside_.write("secret", "s");
    std::filesystem::create_symlink(outside_.path() / "secret", root() / "link");
    std::filesystem::create_symlink(outside_.path(), root() / "dirlink");
    std::filesystem::create_symlink("sub", root() / "sublink");
    std::filesystem::create_symlink("nowhere", root() / "dangling");
    ::mkfifo((root() / "fifo").c_str(), 0600);
    inside_.write("file", "content");
  }
  [[nodiscard]] const std::filesystem::path& root() const { return inside_.path(); }
  Status open_status(const std::string& name) {
    const auto file = store_.open_file(name);
    return file ? Status::kOk : status_of(file.error());
  }
  Status create_status(const std::string& name, std::uint64_t size = 1) {
    const auto file = store_.create_file(name, size);
    return file ? Status::kOk : status_of(file.error());
  }

  ScratchDirectory inside_, outside_;
  Store store_ = Store::open(inside_.path().string());
};

TEST_F(StoreTest, OpensRegularFilesOnly) {
  const auto file = store_.open_file("file");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->facts.size, 7U);
  EXPECT_EQ(open_status("none"), Status::kNotFound);
  EXPECT_EQ(open_status("none/file"), Status::kNotFound);
  EXPECT_EQ(open_status("file/x"), Status::kNotFound);
  EXPECT_EQ(open_status("sub"), Status::kNotAFile);
  EXPECT_EQ(open_status("fifo"), Status::kNotAFile);
}

TEST_F(StoreTest, FollowsNoLinks) {
  for (const char* name : {"link", "dirlink/secret", "sublink/x", "dangling"}) {
    EXPECT_EQ(open_status(name), Status::kSymbolicLink) << name;
    EXPECT_EQ(create_status(name), Status::kSymbolicLink) << name;
  }
  EXPECT_FALSE(store_.open_directory("dirlink"));
  EXPECT_FALSE(store_.open_directory("sublink"));
}

TEST_F(StoreTest, RefusesUnsafeNames) {
  for (const char* name : {"", "..", "../x", "/etc/passwd", "sub/../../x"}) {
    EXPECT_EQ(open_status(name), Status::kBadName) << name;
    EXPECT_EQ(create_status(name), Status::kBadName) << name;
  }
  EXPECT_FALSE(store_.open_directory(".."));
}

TEST_F(StoreTest, CreatesInDirectoriesThatExist) {
  EXPECT_EQ(create_status("new"), Status::kOk);
  EXPECT_EQ(create_status("sub/new"), Status::kOk);
  EXPECT_EQ(create_status("file"), Status::kOk);
  EXPECT_EQ(create_status("none/new"), Status::kNotFound);
  EXPECT_EQ(create_status("sub"), Status::kNotAFile);
  EXPECT_EQ(create_status("fifo"), Status::kNotAFile);
  EXPECT_FALSE(std::filesystem::exists(root() / "new"));
}

TEST_F(StoreTest, RefusesWhatCannotFit) {
  EXPECT_EQ(create_status("large", UINT64_MAX), Status::kTooLarge);
  EXPECT_EQ(create_status("large", std::uint64_t{1} << 62), Status::kNoSpace);
}

TEST(Store, ThatIsNoDirectoryIsNamed) {
  ScratchDirectory scratch;
  scratch.write("file", "");
  for (const auto& path : {scratch.path() / "none", scratch.path() / "file"}) {
    try {
      (void)Store::open(path.string());
      FAIL();
    } catch (const CommandError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(path.string()));
    }
  }
}

}  // namespace
}  // namespace iwarp::cli::file_service
