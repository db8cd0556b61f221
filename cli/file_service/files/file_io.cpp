#include "file_service/files/file_io.hpp"

#include <sys/stat.h>

#include <chrono>
#include <ctime>
#include <thread>

namespace iwarp::cli::file_service {
namespace {

/// Milliseconds between two ticks of the slowest kernel, and one more.
constexpr int kLongestTick = 11;

FileTime time_of(const timespec& time) { return {time.tv_sec, time.tv_nsec}; }

/// The clock that stamps inodes, which moves in ticks.
FileTime stamping_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return time_of(now);
}

}  // namespace

FileResult<std::size_t> read_at(const Fd& file, MutableBytes into, std::uint64_t position) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = ::pread(file.get(), into.data() + done, into.size() - done,
                                static_cast<off_t>(position + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_failure();
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

FileResult<void> write_at(const Fd& file, ConstBytes bytes, std::uint64_t position) {
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_failure();
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    position += static_cast<std::uint64_t>(put);
  }
  return {};
}

FileResult<FileFacts> regular_file_facts(const Fd& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errno_failure();
  if (S_ISDIR(status.st_mode)) return file_failure(std::errc::is_a_directory);
  if (!S_ISREG(status.st_mode)) return file_failure(std::errc::no_such_device);
  return FileFacts{status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
                   time_of(status.st_mtim), time_of(status.st_ctim)};
}

FileResult<FileFacts> settled_file_facts(const Fd& file) {
  FileResult<FileFacts> facts = regular_file_facts(file);
  // A time far in the future is another clock's: waiting for it would not help.
  for (int look = 0; facts && look < kLongestTick && stamping_clock() <= facts->changed; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    facts = regular_file_facts(file);
  }
  return facts;
}

}  // namespace iwarp::cli::file_service
