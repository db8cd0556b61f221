#include "file_service/server/list_operation.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "context.hpp"
#include "file_service/wire/limits.hpp"

namespace iwarp::cli::file_service {
namespace {

/// A stream over a descriptor of its own.
DIR* open_stream(const Fd& directory) {
  const int copy = ::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0);
  DIR* stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (stream == nullptr) {
    const std::error_code why(errno, std::system_category());
    if (copy >= 0) ::close(copy);
    throw std::system_error(why, "a directory cannot be listed");
  }
  return stream;
}

}  // namespace

ListOperation::ListOperation(Link& link, Fd opened, std::string directory, std::string leaf_prefix)
    : link_(link),
      stream_(open_stream(opened)),
      directory_(std::move(directory)),
      leaf_prefix_(std::move(leaf_prefix)),
      page_(kListingPage),
      region_(require(link.domain().register_memory(page_.bytes(), verbs::Access::kLocalWrite),
                      "cannot register a page")) {}

void ListOperation::take_page(const Job& job) {
  const std::size_t size = std::min<std::size_t>(job.buffer->length, kListingPage);
  MutableBytes room = page_.bytes().first(size);
  while (auto entry = left_over_ ? std::exchange(left_over_, std::nullopt) : next()) {
    if (append_entry(room, *entry)) continue;
    left_over_ = std::move(entry);
    break;
  }
  if (broken_) return answer_failure(link_, job, broken_);
  const auto used = static_cast<std::uint32_t>(size - room.size());
  if (used == 0 && left_over_) return answer_failure(link_, job, Status::kBadRequest);
  ended_ = used == 0;
  if (ended_) return answer(link_, job, {});
  sending_ = true;
  answer(link_, job, {.length = used}, AnswerTag::kDataBuffer,
         verbs::Sge{page_.bytes().data(), used, region_.lkey()});
}

std::optional<ListEntry> ListOperation::next() {
  while (const dirent* found = (errno = 0, ::readdir(stream_.get()))) {
    if (!std::string_view(found->d_name).starts_with(leaf_prefix_)) continue;
    if (auto entry = describe(*found)) return entry;
    if (broken_) return std::nullopt;
  }
  if (errno != 0) broken_ = {errno, std::system_category()};
  return std::nullopt;
}

std::optional<ListEntry> ListOperation::describe(const dirent& found) {
  const std::string name = directory_ + found.d_name;
  struct stat status {};
  // What cannot be got is not listed.
  if (!is_safe_name(name)) return std::nullopt;
  if (::fstatat(::dirfd(stream_.get()), found.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT && errno != EACCES) broken_ = {errno, std::system_category()};
    return std::nullopt;
  }
  if (S_ISDIR(status.st_mode)) {
    return ListEntry{ListEntry::Kind::kDirectory, 0, status.st_mtim.tv_sec, name};
  }
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return ListEntry{ListEntry::Kind::kFile, static_cast<std::uint64_t>(status.st_size),
                   status.st_mtim.tv_sec, name};
}

FileResult<std::unique_ptr<ListOperation>> start_listing(Link& link, const Store& store,
                                                         std::string_view prefix) try {
  const std::size_t slash = prefix.rfind('/');
  const bool below = slash != std::string_view::npos;
  // "/etc/" must not become "" and list the served directory.
  if (slash == 0) return file_failure(std::errc::invalid_argument);
  FileResult<Fd> opened = store.open_directory(below ? prefix.substr(0, slash) : "");
  if (!opened) return failure(opened.error());
  const std::size_t leaf_at = below ? slash + 1 : 0;
  return std::make_unique<ListOperation>(link, *std::move(opened),
                                         std::string(prefix.substr(0, leaf_at)),
                                         std::string(prefix.substr(leaf_at)));
} catch (const std::system_error& error) {
  return failure(error.code());
}

}  // namespace iwarp::cli::file_service
