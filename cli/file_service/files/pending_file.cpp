#include "file_service/files/pending_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <memory>
#include <string_view>

#include "file_service/files/file_io.hpp"
#include "iwarp/process/secret.hpp"

namespace iwarp::cli::file_service {
namespace {

constexpr mode_t kNewMode = 0666;  // Less the umask.
constexpr mode_t kPrivateMode = 0600;
/// Write-back starts every so many octets, so that sync() finds little left to do.
constexpr std::uint64_t kWriteBackStep = 8U << 20;
constexpr int kNameAttempts = 100;
constexpr int kDeepestDirectory = 64;

// From the system's generator, which needs no file: a server may open none outside its directory.
FileResult<std::string> random_name() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  const auto drawn = process::secret();
  if (!drawn) return failure(drawn.error());
  std::string name = kTemporaryPrefix;
  std::uint64_t rest = *drawn;
  for (int i = 0; i < 12; ++i, rest /= kLetters.size()) {
    name.push_back(kLetters[rest % kLetters.size()]);
  }
  return name;
}

bool lacks_unnamed_files(std::errc code) {
  // Old kernels and file systems see O_TMPFILE as an attempt to write to a directory.
  return code == std::errc::operation_not_supported || code == std::errc::is_a_directory ||
         code == std::errc::no_such_file_or_directory || code == std::errc::invalid_argument;
}

/// Calls `attempt` with fresh names until it does anything but fail because the name exists.
template <typename Attempt>
FileResult<std::string> with_fresh_name(Attempt attempt) {
  for (int i = 0; i < kNameAttempts; ++i) {
    FileResult<std::string> name = random_name();
    if (!name) return name;
    const FileResult<void> done = attempt(*name);
    if (done) return name;
    if (done.error() != std::errc::file_exists) return failure(done.error());
  }
  return file_failure(std::errc::file_exists);
}

}  // namespace

FileResult<PendingFile> PendingFile::create(Fd directory, std::string leaf) {
  PendingFile pending(std::move(directory), std::move(leaf));
  if (const auto looked = pending.look_at_replaced(); !looked) return failure(looked.error());
  FileResult<void> opened = pending.open_unnamed();
  if (!opened && lacks_unnamed_files(static_cast<std::errc>(opened.error().value()))) {
    opened = pending.open_named();
  }
  if (!opened) return failure(opened.error());
  // Tells remove_stale_files() that a process still works on this.
  ::flock(pending.file_.get(), LOCK_EX | LOCK_NB);
  return pending;
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : directory_(std::move(other.directory_)),
      file_(std::move(other.file_)),
      leaf_(std::move(other.leaf_)),
      temporary_(std::exchange(other.temporary_, {})),
      replaced_(std::move(other.replaced_)) {}

PendingFile::~PendingFile() {
  if (!temporary_.empty()) ::unlinkat(directory_.get(), temporary_.c_str(), 0);
}

mode_t PendingFile::first_mode() const { return replaced_ ? kPrivateMode : kNewMode; }

FileResult<void> PendingFile::open_unnamed() {
  file_ = Fd(::openat(directory_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, first_mode()));
  if (!file_) return errno_failure();
  return {};
}

FileResult<void> PendingFile::open_named() {
  auto name = with_fresh_name([this](const std::string& fresh) -> FileResult<void> {
    file_ = Fd(::openat(directory_.get(), fresh.c_str(),
                        O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, first_mode()));
    if (!file_) return errno_failure();
    return {};
  });
  if (!name) return failure(name.error());
  temporary_ = std::move(*name);
  return {};
}

FileResult<void> PendingFile::append(ConstBytes bytes, std::uint64_t position) {
  if (const auto written = write_at(file_, bytes, position); !written) return written;
  const std::uint64_t end = position + bytes.size();
  const std::uint64_t begun = position / kWriteBackStep * kWriteBackStep;
  if (end / kWriteBackStep != position / kWriteBackStep) {
    // A hint: where it does not work, sync() does it all.
    ::sync_file_range(file_.get(), static_cast<off_t>(begun), static_cast<off_t>(end - begun),
                      SYNC_FILE_RANGE_WRITE);
  }
  return {};
}

// Keeps what it saw before if the name is free now.
FileResult<void> PendingFile::look_at_replaced() {
  FileResult<std::optional<FileAccess>> seen = access_of(directory_, leaf_);
  if (!seen) return failure(seen.error());
  if (*seen) replaced_ = **std::move(seen);
  return {};
}

FileResult<void> PendingFile::take_over_access() {
  if (const auto looked = look_at_replaced(); !looked) return looked;
  if (!replaced_) return {};
  return give_access(file_, *replaced_);
}

FileResult<void> PendingFile::sync() {
  if (const auto taken = take_over_access(); !taken) return taken;
  if (::fsync(file_.get()) != 0) return errno_failure();
  return {};
}

FileResult<void> PendingFile::link_as(const std::string& name) const {
  const std::string path = "/proc/self/fd/" + std::to_string(file_.get());
  if (::linkat(AT_FDCWD, path.c_str(), directory_.get(), name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return errno_failure();
  }
  return {};
}

FileResult<void> PendingFile::give_temporary_name() {
  auto name = with_fresh_name([this](const std::string& fresh) { return link_as(fresh); });
  if (!name) return failure(name.error());
  temporary_ = std::move(*name);
  return {};
}

FileResult<void> PendingFile::publish() {
  if (temporary_.empty()) {
    const FileResult<void> linked = link_as(leaf_);
    if (linked) return sync_directory();
    if (linked.error() != std::errc::file_exists) return linked;
  }
  // The file of that name may be another one by now, or have been given another mode.
  if (const auto taken = take_over_access(); !taken) return taken;
  if (temporary_.empty()) {
    // A link replaces nothing, a rename does.
    if (const auto given = give_temporary_name(); !given) return given;
  }
  if (::renameat(directory_.get(), temporary_.c_str(), directory_.get(), leaf_.c_str()) != 0) {
    return errno_failure();
  }
  temporary_.clear();
  return sync_directory();
}

FileResult<void> PendingFile::sync_directory() const {
  // Some file systems cannot sync a directory, which is not this file's failure.
  if (::fsync(directory_.get()) != 0 && errno != EINVAL) return errno_failure();
  return {};
}

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

void remove_if_stale(int directory, const char* name) {
  const Fd file(::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || !regular_file_facts(file)) return;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlinkat(directory, name, 0);
}

void remove_stale_below(int directory, int depth) {
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseDirectory> stream(copy < 0 ? nullptr : ::fdopendir(copy));
  if (!stream) return;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (name.starts_with(kTemporaryPrefix)) remove_if_stale(directory, entry->d_name);
    if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) continue;
    const Fd below(
        ::openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (below && depth > 0) remove_stale_below(below.get(), depth - 1);
  }
}

}  // namespace

void remove_stale_files(const Fd& directory) {
  remove_stale_below(directory.get(), kDeepestDirectory);
}

}  // namespace iwarp::cli::file_service
