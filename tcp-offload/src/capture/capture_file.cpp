#include "capture/capture_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace iwarp::tcp_offload::capture {
namespace {

std::string path_of(const std::string& directory, const Endpoint& local, const Endpoint& remote) {
  static std::atomic<unsigned> files{0};
  return directory + "/iwarp-" + std::to_string(::getpid()) + "-" + std::to_string(local.port()) +
         "-" + remote.address().to_string() + "-" + std::to_string(remote.port()) + "-" +
         std::to_string(files.fetch_add(1)) + ".pcapng";
}

std::error_code last_error() { return {errno, std::system_category()}; }

std::error_code write_all(int file, ConstBytes bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return last_error();
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace

CaptureFile::CaptureFile(const std::string& directory, const Endpoint& local,
                         const Endpoint& remote)
    : path_(path_of(directory, local, remote)) {}

std::error_code CaptureFile::append(ConstBytes blocks) {
  if (!file_) {
    // No other user may read the payload, and no symbolic link is followed.
    file_ = process::Descriptor(
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file_) return last_error();
  }
  if (const auto error = write_all(file_.get(), blocks)) {
    // A block that is cut would hide the good ones from some readers.
    static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(size_)) == 0);
    return error;
  }
  size_ += blocks.size();
  return {};
}

}  // namespace iwarp::tcp_offload::capture
