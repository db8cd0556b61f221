#include "file_service/files/file_access.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

namespace iwarp::cli::file_service {
namespace {

constexpr const char* kAclName = "system.posix_acl_access";
constexpr mode_t kPermissions = 0777;
constexpr uid_t kSameOwner = static_cast<uid_t>(-1);
constexpr gid_t kSameGroup = static_cast<gid_t>(-1);

/// An O_PATH descriptor has no extended attributes of its own.
std::string path_of(const Fd& file) { return "/proc/self/fd/" + std::to_string(file.get()); }

bool has_no_acl(int error) { return error == ENODATA || error == EOPNOTSUPP; }

FileResult<std::vector<std::byte>> acl_of(const Fd& file) {
  const std::string path = path_of(file);
  const ssize_t size = ::getxattr(path.c_str(), kAclName, nullptr, 0);
  if (size < 0 && has_no_acl(errno)) return std::vector<std::byte>();
  if (size < 0) return errno_failure();
  std::vector<std::byte> acl(static_cast<std::size_t>(size));
  if (::getxattr(path.c_str(), kAclName, acl.data(), acl.size()) != size) return errno_failure();
  return acl;
}

/// Whether the file has this access control list now. Without one, a list goes that the file
/// inherited from its directory: the permissions would bring it to life.
bool gave_acl(const Fd& file, const std::vector<std::byte>& acl) {
  if (!acl.empty()) return ::fsetxattr(file.get(), kAclName, acl.data(), acl.size(), 0) == 0;
  return ::fremovexattr(file.get(), kAclName) == 0 || has_no_acl(errno);
}

/// What is left if another group takes the group's place: its members had the rights of others.
mode_t without_group(mode_t permissions) {
  return permissions & (0707 | (permissions & 0007) << 3);
}

}  // namespace

FileResult<std::optional<FileAccess>> access_of(const Fd& directory, const std::string& leaf) {
  const Fd file(::openat(directory.get(), leaf.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::optional<FileAccess>();
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return errno_failure();
  if (!S_ISREG(status.st_mode)) return std::optional<FileAccess>();
  FileResult<std::vector<std::byte>> acl = acl_of(file);
  if (!acl) return failure(acl.error());
  return std::optional<FileAccess>(
      {status.st_uid, status.st_gid, status.st_mode & kPermissions, *std::move(acl)});
}

FileResult<void> give_access(const Fd& file, const FileAccess& access) {
  struct stat now {};
  if (::fstat(file.get(), &now) != 0) return errno_failure();
  const bool group_kept =
      now.st_gid == access.group || ::fchown(file.get(), kSameOwner, access.group) == 0;
  mode_t permissions = group_kept ? access.permissions : without_group(access.permissions);
  // Of a list that cannot be kept nothing is known but that it binds all users but the owner.
  const bool acl_kept = gave_acl(file, group_kept ? access.acl : std::vector<std::byte>());
  if (!acl_kept || (!access.acl.empty() && !group_kept)) permissions &= 0700;
  if (::fstat(file.get(), &now) != 0) return errno_failure();
  if ((now.st_mode & kPermissions) != permissions && ::fchmod(file.get(), permissions) != 0) {
    return errno_failure();
  }
  // Last, as it may end the right to do the others. Most processes may not, and stay the owner.
  if (now.st_uid != access.owner) (void)!::fchown(file.get(), access.owner, kSameGroup);
  return {};
}

}  // namespace iwarp::cli::file_service
