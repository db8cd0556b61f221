#include "file_service/files/file_access.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cli/bytes_of.hpp"
#include "cli/scratch_directory.hpp"
#include "file_service/files/pending_file.hpp"

/// The users that a file lets in which is replaced are those that its successor lets in.
namespace iwarp::cli::file_service {
namespace {

constexpr uid_t kStranger = 54321;
constexpr gid_t kStrangers = 65432;

// Why a test is skipped.
constexpr const char* kNotRoot = "only root may give a file to another user";
constexpr const char* kNoLists = "the file system of the temporary directory has no ACLs";

/// An access control list as the kernel writes it (little-endian hosts).
struct AclEntry {
  std::uint16_t tag, permissions;
  std::uint32_t id = UINT32_MAX;
};
struct Acl {
  std::uint32_t version = 2;
  /// The owner reads and writes; `named` has a right of its own; `mask` limits it and the group.
  std::array<AclEntry, 5> entries;
  Acl(uid_t named, std::uint16_t right, std::uint16_t mask)
      : entries{{{0x01, 6}, {0x02, right, named}, {0x04, 0}, {0x10, mask}, {0x20, 0}}} {}
};

class FileAccessTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const {
    return (scratch_.path() / name).string();
  }
  [[nodiscard]] Fd directory() const {
    return Fd(::open(scratch_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  void write(const std::string& name, mode_t mode) const {
    scratch_.write(name, "old");
    ASSERT_EQ(::chmod(path(name).c_str(), mode), 0);
  }
  PendingFile start(const std::string& name) const {
    auto file = PendingFile::create(directory(), name);
    EXPECT_TRUE(file);
    EXPECT_TRUE(file->append(bytes_of("new"), 0));
    return *std::move(file);
  }
  static void finish(PendingFile& file) {
    ASSERT_TRUE(file.sync());
    ASSERT_TRUE(file.publish());
  }
  void replace(const std::string& name) const {
    PendingFile file = start(name);
    finish(file);
  }
  [[nodiscard]] struct stat status_of(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::stat(path(name).c_str(), &status), 0);
    return status;
  }
  [[nodiscard]] mode_t mode_of(const std::string& name) const {
    return status_of(name).st_mode & 07777;
  }
  /// The mode of the file of this process that has no name yet.
  [[nodiscard]] mode_t mode_of_unnamed() const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
      if (!target.starts_with(path("#"))) continue;
      struct stat status {};
      EXPECT_EQ(::stat(entry.path().c_str(), &status), 0);
      return status.st_mode & 07777;
    }
    return 0;
  }
  /// False where there are none at all.
  [[nodiscard]] bool set_acl(const std::string& name, const char* kind, const Acl& acl) const {
    const bool set = ::setxattr(path(name).c_str(), kind, &acl, sizeof acl, 0) == 0;
    EXPECT_TRUE(set || errno == ENOTSUP) << kind << ": " << std::strerror(errno);
    return set;
  }
  [[nodiscard]] std::vector<std::byte> acl_of(const std::string& name) const {
    return access_of(directory(), name)->value().acl;
  }

  ScratchDirectory scratch_;
};

TEST_F(FileAccessTest, AReplacedFilesPermissionsAreKept) {
  for (const mode_t mode : {0600U, 0640U, 0400U, 0755U, 0666U, 0000U}) {
    write("name", mode);
    replace("name");
    EXPECT_EQ(mode_of("name"), mode);
    ASSERT_EQ(::chmod(path("name").c_str(), 0600), 0);  // some modes keep its owner out
    EXPECT_EQ(scratch_.read("name"), "new");
  }
}

TEST_F(FileAccessTest, ANewFileHasWhatTheUmaskLeaves) {
  const mode_t before = ::umask(026);
  replace("name");
  ::umask(before);
  EXPECT_EQ(mode_of("name"), 0640U);
}

TEST_F(FileAccessTest, TheSuccessorOfAPrivateFileIsPrivateFromTheStart) {
  write("name", 0640);
  PendingFile file = start("name");
  EXPECT_EQ(mode_of_unnamed(), 0600U);
  finish(file);
  EXPECT_EQ(mode_of("name"), 0640U);
}

TEST_F(FileAccessTest, ThePermissionsAreThoseOfTheLastMoment) {
  write("name", 0644);
  PendingFile file = start("name");
  ASSERT_TRUE(file.sync());
  ASSERT_EQ(::chmod(path("name").c_str(), 0600), 0);
  ASSERT_TRUE(file.publish());
  EXPECT_EQ(mode_of("name"), 0600U);
}

TEST_F(FileAccessTest, AFileThatAppearsMeanwhileKeepsItsPermissions) {
  PendingFile file = start("name");
  write("name", 0600);
  finish(file);
  EXPECT_EQ(mode_of("name"), 0600U);
}

TEST_F(FileAccessTest, AFileThatGoesMeanwhileLeavesItsPermissions) {
  write("name", 0600);
  PendingFile file = start("name");
  ASSERT_EQ(::unlink(path("name").c_str()), 0);
  finish(file);
  EXPECT_EQ(mode_of("name"), 0600U);
}

TEST_F(FileAccessTest, SetIdBitsGoAsAWriteWouldTakeThem) {
  write("name", 06755);
  replace("name");
  EXPECT_EQ(mode_of("name"), 0755U);
}

TEST_F(FileAccessTest, PermissionsOfALinkAreNone) {
  write("target", 0600);
  std::filesystem::create_symlink("target", path("name"));
  EXPECT_FALSE(access_of(directory(), "name")->has_value());
  EXPECT_FALSE(access_of(directory(), "none")->has_value());
}

TEST_F(FileAccessTest, OwnerAndGroupAreKept) {
  if (::geteuid() != 0) GTEST_SKIP() << kNotRoot;
  write("name", 0640);
  ASSERT_EQ(::chown(path("name").c_str(), kStranger, kStrangers), 0);
  replace("name");
  EXPECT_EQ(status_of("name").st_uid, kStranger);
  EXPECT_EQ(status_of("name").st_gid, kStrangers);
  EXPECT_EQ(mode_of("name"), 0640U);
}

TEST_F(FileAccessTest, RightsOfAGroupThatCannotBeKeptAreThoseOfOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << kNotRoot;
  // What a user without privileges does, who may write to the directory.
  ASSERT_EQ(::chown(scratch_.path().c_str(), kStranger, kStrangers), 0);
  for (const auto& [mode, left] : {std::pair{0664U, 0644U}, {0640U, 0600U}, {0604U, 0604U}}) {
    write("name", mode);
    ASSERT_EQ(::setfsgid(kStrangers), 0);
    ASSERT_EQ(::setfsuid(kStranger), 0);
    PendingFile file = start("name");
    finish(file);
    ::setfsuid(0);
    ::setfsgid(0);
    EXPECT_EQ(status_of("name").st_uid, kStranger);
    EXPECT_EQ(mode_of("name"), left) << std::oct << mode;
    ASSERT_EQ(::unlink(path("name").c_str()), 0);
  }
}

TEST_F(FileAccessTest, AnAccessControlListIsKept) {
  write("name", 0600);
  if (!set_acl("name", "system.posix_acl_access", Acl(kStranger, 4, 4))) GTEST_SKIP() << kNoLists;
  const auto before = acl_of("name");
  ASSERT_FALSE(before.empty());
  replace("name");
  EXPECT_EQ(acl_of("name"), before);
  EXPECT_EQ(mode_of("name"), 0640U);  // the list's mask stands for the group
}

TEST_F(FileAccessTest, AListThatTheDirectoryWouldGiveLetsNobodyIn) {
  write("name", 0660);
  if (!set_acl("", "system.posix_acl_default", Acl(kStranger, 6, 6))) GTEST_SKIP() << kNoLists;
  replace("name");
  EXPECT_TRUE(acl_of("name").empty());
  EXPECT_EQ(mode_of("name"), 0660U);
  replace("new");
  EXPECT_FALSE(acl_of("new").empty());
}

}  // namespace
}  // namespace iwarp::cli::file_service
