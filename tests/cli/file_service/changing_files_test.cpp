#include <sys/stat.h>

#include "cli/file_service/file_server.hpp"

/// Files that change under a transfer, with every trace removed that a program can remove.
namespace iwarp::cli::file_service {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t kMib = 1U << 20;

/// Does something to a file and puts its time of modification back.
template <typename Change>
void behind_its_time(const std::filesystem::path& path, Change change) {
  const Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat before {};
  ASSERT_EQ(::fstat(file.get(), &before), 0);
  ASSERT_EQ(change(file.get()), 0);
  const std::array times{before.st_atim, before.st_mtim};
  ASSERT_EQ(::futimens(file.get(), times.data()), 0);
}

void overwrite_behind_its_time(const std::filesystem::path& path, off_t at) {
  behind_its_time(path, [at](int file) { return ::pwrite(file, "new", 3, at) == 3 ? 0 : -1; });
}

/// What a transfer fails with; empty if it does not.
template <typename Transfer>
std::string failure_of(Transfer transfer) {
  try {
    transfer();
  } catch (const CommandError& error) {
    return error.what();
  }
  return {};
}

class ChangingFiles : public FileServerTest {
 protected:
  [[nodiscard]] std::filesystem::path served(const std::string& name) const {
    return scratch_.path() / name;
  }
  Status get_chunk(RawClient& client, std::uint64_t position) {
    const auto region = client.offer(MutableBytes(memory_).first(kMib));
    return client.ask(
        {.operation = Operation::kGetChunk, .buffer = region.remote(), .position = position});
  }
  Status open_get(RawClient& client) {
    return client.ask({.operation = Operation::kOpenGet, .payload = bytes_of("file")});
  }
  /// Puts `source` and does `change` when the first chunk has arrived.
  std::string put_and(const std::filesystem::path& source, int flags,
                      const std::function<void()>& change) {
    const auto client = connect_client();
    const Fd file(::open(source.c_str(), flags | O_CLOEXEC));
    const Subject subject{"copy", "url", source.string()};
    return failure_of([&] {
      upload(*client, file, subject, HashKind::kSha256, [&](std::uint64_t done, std::uint64_t) {
        if (done == kMib) change();
      });
    });
  }

  ScratchDirectory mine_;
};

TEST_F(ChangingFiles, AGetFailsThoughTheTimeOfModificationIsPutBack) {
  RawClient client = connect();
  ASSERT_EQ(open_get(client), Status::kOk);
  ASSERT_EQ(get_chunk(client, 0), Status::kOk);
  overwrite_behind_its_time(served("file"), 2 * kMib);
  ASSERT_EQ(get_chunk(client, kMib), Status::kOk);
  ASSERT_EQ(get_chunk(client, 2 * kMib), Status::kOk);
  EXPECT_EQ(client.ask({.operation = Operation::kFinish}), Status::kChanged);
}

TEST_F(ChangingFiles, AGetOfAFileThatWasTooShortForAMomentFails) {
  RawClient client = connect();
  ASSERT_EQ(open_get(client), Status::kOk);
  ASSERT_EQ(get_chunk(client, 0), Status::kOk);
  behind_its_time(served("file"), [](int file) { return ::ftruncate(file, kMib + 5); });
  EXPECT_EQ(get_chunk(client, kMib), Status::kChanged);
  behind_its_time(served("file"), [](int file) { return ::ftruncate(file, 3 * kMib); });
  EXPECT_EQ(get_chunk(client, 2 * kMib), Status::kChanged);
}

TEST_F(ChangingFiles, AGetThatFailsKeepsTheOldFile) {
  mine_.write("copy", "old");
  std::string why;
  {
    const auto client = connect_client();
    Fd directory(::open(mine_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    auto pending = PendingFile::create(std::move(directory), "copy");
    ASSERT_TRUE(pending);
    const Subject subject{"file", "iwarp://server/file", "copy"};
    why = failure_of([&] {
      download(*client, *pending, subject, HashKind::kNone,
               [&](std::uint64_t, std::uint64_t) { overwrite_behind_its_time(served("file"), 0); });
    });
  }
  EXPECT_THAT(why, AllOf(HasSubstr("iwarp://server/file"), HasSubstr("changed")));
  EXPECT_EQ(mine_.read("copy"), "old");
  EXPECT_THAT(mine_.names(), ElementsAre("copy"));
}

TEST_F(ChangingFiles, APutFailsThoughTheTimeOfModificationIsPutBackAndKeepsTheOldFile) {
  scratch_.write("copy", "old");
  mine_.write("source", std::string(3 * kMib, 's'));
  const auto source = mine_.path() / "source";
  const std::string why = put_and(source, O_RDONLY, [&] { overwrite_behind_its_time(source, 7); });
  EXPECT_THAT(why, AllOf(HasSubstr(source.string()), HasSubstr("changed")));
  EXPECT_TRUE(scratch_.read("copy") == "old");
  EXPECT_THAT(scratch_.names(), ElementsAre("copy", "file"));
}

TEST_F(ChangingFiles, APutOfAFileThatCannotBeReadFails) {
  mine_.write("source", "content");
  const auto source = mine_.path() / "source";
  EXPECT_THAT(put_and(source, O_WRONLY, [] {}), HasSubstr(source.string()));
  EXPECT_THAT(scratch_.names(), ElementsAre("file"));
}

}  // namespace
}  // namespace iwarp::cli::file_service
