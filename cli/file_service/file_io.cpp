#include "file_service/file_io.hpp"

#include <sys/stat.h>

namespace iwarp::cli::file_service {

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
  return FileFacts{static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec,
                   status.st_mtim.tv_nsec};
}

}  // namespace iwarp::cli::file_service
