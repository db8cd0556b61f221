#pragma once

#include <dirent.h>

#include <memory>
#include <optional>
#include <string>

#include "file_service/server/job.hpp"
#include "file_service/server/store.hpp"

namespace iwarp::cli::file_service {

/// The server's side of one listing: the regular files and directories of one directory whose
/// names start with a prefix, in no order, page by page.
class ListOperation {
 public:
  /// Throws std::bad_alloc, std::system_error. `directory` is the part of the prefix up to its last
  /// '/', with it.
  ListOperation(Link& link, Fd opened, std::string directory, std::string leaf_prefix);

  /// Whether the page is free.
  [[nodiscard]] bool can_take() const { return !sending_; }
  /// A List or ListMore: writes as many entries as fit; none at the end. Precondition: can_take().
  void take_page(const Job& job);
  /// Whether the client has been told that there is nothing more.
  [[nodiscard]] bool ended() const { return ended_; }
  /// The page has been sent.
  void on_sent() { sending_ = false; }

 private:
  struct Close {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  /// The next entry that is to be listed; none at the end.
  std::optional<ListEntry> next();
  std::optional<ListEntry> describe(const dirent& found);

  Link& link_;
  std::unique_ptr<DIR, Close> stream_;
  std::string directory_;
  std::string leaf_prefix_;
  std::optional<ListEntry> left_over_;  ///< Did not fit into the last page.
  PageBuffer page_;
  verbs::MemoryRegion region_;
  bool sending_ = false;
  bool ended_ = false;
  std::error_code broken_;  ///< Why there is no next entry, if that is not the end.
};

/// Starts the listing of names with `prefix`.
FileResult<std::unique_ptr<ListOperation>> start_listing(Link& link, const Store& store,
                                                         std::string_view prefix);

}  // namespace iwarp::cli::file_service
