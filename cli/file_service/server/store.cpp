#include "file_service/server/store.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "context.hpp"

namespace iwarp::cli::file_service {
namespace {

constexpr std::size_t kMaxComponent = 255;

bool is_safe_component(std::string_view component) {
  return !component.empty() && component.size() <= kMaxComponent && component != "." &&
         component != ".." && !component.starts_with(kTemporaryPrefix);
}

bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F && c != '\\'; }

/// "a/b/c" becomes "a/b" and "c".
std::pair<std::string_view, std::string_view> split(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return {{}, name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

/// Whether the name may be given to a file: nothing or a regular file has it now.
FileResult<void> check_replaceable(const Fd& directory, const std::string& leaf) {
  struct stat status {};
  if (::fstatat(directory.get(), leaf.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return errno_failure();
  }
  if (S_ISLNK(status.st_mode)) return file_failure(std::errc::too_many_symbolic_link_levels);
  if (S_ISDIR(status.st_mode)) return file_failure(std::errc::is_a_directory);
  if (!S_ISREG(status.st_mode)) return file_failure(std::errc::no_such_device);
  return {};
}

FileResult<void> check_room(const Fd& directory, std::uint64_t size) {
  struct statvfs status {};
  // Without an answer, or with a file system that has no limit, writing will tell.
  if (::fstatvfs(directory.get(), &status) != 0 || status.f_blocks == 0) return {};
  const std::uint64_t blocks = ::geteuid() == 0 ? status.f_bfree : status.f_bavail;
  if (size / status.f_frsize > blocks) return file_failure(std::errc::no_space_on_device);
  return {};
}

}  // namespace

bool is_safe_name(std::string_view name) {
  if (name.size() > kMaxName || !std::all_of(name.begin(), name.end(), is_plain)) return false;
  while (true) {
    const std::size_t slash = name.find('/');
    if (!is_safe_component(name.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

Status status_of(const std::error_code& error) {
  switch (static_cast<std::errc>(error.value())) {
    case std::errc::no_such_file_or_directory:
    case std::errc::not_a_directory: return Status::kNotFound;
    case std::errc::is_a_directory:
    case std::errc::no_such_device:
    case std::errc::no_such_device_or_address: return Status::kNotAFile;
    case std::errc::permission_denied:
    case std::errc::operation_not_permitted:
    case std::errc::cross_device_link:
    case std::errc::read_only_file_system: return Status::kDenied;
    case std::errc::too_many_symbolic_link_levels: return Status::kSymbolicLink;
    case std::errc::no_space_on_device: return Status::kNoSpace;
    case std::errc::file_too_large: return Status::kTooLarge;
    case std::errc::invalid_argument:
    case std::errc::filename_too_long: return Status::kBadName;
    default: break;
  }
  return error.value() == EDQUOT ? Status::kNoSpace : Status::kInputOutput;
}

Store Store::open(const std::string& path) {
  Fd root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) {
    throw CommandError(fmt::format("cannot serve '{}': {}", path, std::strerror(errno)));
  }
  Store store(std::move(root));
  if (const auto probed = store.open_directory(""); !probed) {
    throw CommandError(
        fmt::format("cannot serve '{}': openat2 says {}", path, probed.error().message()));
  }
  remove_stale_files(store.root_);
  return store;
}

FileResult<Fd> Store::open_below(std::string_view name, std::uint64_t flags) const {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const std::string path(name.empty() ? "." : name);
  const long fd = ::syscall(SYS_openat2, root_.get(), path.c_str(), &how, sizeof how);
  if (fd < 0) return errno_failure();
  return Fd(static_cast<int>(fd));
}

FileResult<Fd> Store::open_directory(std::string_view name) const {
  if (!name.empty() && !is_safe_name(name)) return file_failure(std::errc::invalid_argument);
  return open_below(name, O_RDONLY | O_DIRECTORY);
}

FileResult<Store::ReadableFile> Store::open_file(std::string_view name) const {
  if (!is_safe_name(name)) return file_failure(std::errc::invalid_argument);
  // Non-blocking: opening a FIFO must not wait for its writer.
  FileResult<Fd> file = open_below(name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return failure(file.error());
  const FileResult<FileFacts> facts = settled_file_facts(*file);
  if (!facts) return failure(facts.error());
  return ReadableFile{*std::move(file), *facts};
}

FileResult<PendingFile> Store::create_file(std::string_view name, std::uint64_t size) const {
  if (!is_safe_name(name)) return file_failure(std::errc::invalid_argument);
  if (size > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) {
    return file_failure(std::errc::file_too_large);
  }
  const auto [parent, leaf] = split(name);
  FileResult<Fd> directory = open_directory(parent);
  if (!directory) return failure(directory.error());
  if (const auto free = check_replaceable(*directory, std::string(leaf)); !free) {
    return failure(free.error());
  }
  if (const auto room = check_room(*directory, size); !room) return failure(room.error());
  return PendingFile::create(*std::move(directory), std::string(leaf));
}

}  // namespace iwarp::cli::file_service
