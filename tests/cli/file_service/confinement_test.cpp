#include "file_service/files/confinement.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "cli/scratch_directory.hpp"
#include "file_service/server/store.hpp"
#include "support/loopback_address.hpp"

// What a confined process can do. Each is a child, as there is no way back.
namespace iwarp::cli::file_service {
namespace {

constexpr int kNoLandlock = 77;
constexpr int kAllowed = 0;

/// What the child returned, or its signal as a negative number.
template <typename Work>
int in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class Confined : public testing::Test {
 protected:
  void SetUp() override {
    scratch_.write("secret", "not served");
    std::filesystem::create_directory(scratch_.path() / "served");
    std::filesystem::create_directory(scratch_.path() / "captures");
    scratch_.write("served/file", "content");
    std::filesystem::create_symlink("../secret", scratch_.path() / "served/link");
  }

  [[nodiscard]] std::string path(const char* name) const { return scratch_.path() / name; }

  /// What `work` returns, called with the store of a process that is confined to it.
  template <typename Work>
  int confined(Work work) {
    return in_child([&] {
      const Store store = Store::open(path("served"));
      if (!give_up_privileges()) return 1;
      if (!confine({store.root(), path("captures"), 0})) return kNoLandlock;
      return work(store);
    });
  }
  /// The errno of an attempt to open, 0 if it succeeds.
  int opening(const std::string& file, int flags) {
    return confined(
        [&](const Store&) { return ::open(file.c_str(), flags, 0600) < 0 ? errno : 0; });
  }
  static bool skipped(int result) { return result == kNoLandlock; }

  const ScratchDirectory scratch_;
};

#define EXPECT_CONFINED(attempt, expected)                                      \
  do {                                                                          \
    const int result = (attempt);                                               \
    if (skipped(result)) GTEST_SKIP() << "this kernel does not offer Landlock"; \
    EXPECT_EQ(result, expected);                                                \
  } while (false)

TEST_F(Confined, ReadsNothingElse) {
  EXPECT_CONFINED(opening("/etc/passwd", O_RDONLY), EACCES);
  EXPECT_CONFINED(opening(path("secret"), O_RDONLY), EACCES);
  EXPECT_CONFINED(opening(scratch_.path(), O_RDONLY | O_DIRECTORY), EACCES);
}

TEST_F(Confined, MakesNothingElsewhere) {
  EXPECT_CONFINED(opening(path("new"), O_CREAT | O_WRONLY), EACCES);
  EXPECT_CONFINED(opening(path("secret"), O_WRONLY), EACCES);
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "new"));
}

TEST_F(Confined, RemovesNothingElsewhere) {
  EXPECT_CONFINED(
      confined([&](const Store&) { return ::unlink(path("secret").c_str()) == 0 ? 0 : errno; }),
      EACCES);
}

TEST_F(Confined, ReachesNothingByALink) {
  EXPECT_CONFINED(opening(path("served/link"), O_RDONLY), EACCES);
}

TEST_F(Confined, MakesNothingButFiles) {
  const auto attempt = [&](auto call) {
    return confined([&](const Store&) { return call() == 0 ? kAllowed : errno; });
  };
  EXPECT_CONFINED(attempt([&] { return ::mkdir(path("served/x").c_str(), 0700); }), EACCES);
  EXPECT_CONFINED(attempt([&] { return ::symlink("/", path("served/y").c_str()); }), EACCES);
  EXPECT_CONFINED(attempt([&] { return ::mkfifo(path("served/z").c_str(), 0600); }), EACCES);
}

TEST_F(Confined, ExecutesNothing) {
  EXPECT_CONFINED(confined([](const Store&) {
                    ::execl("/bin/true", "true", nullptr);
                    return errno;
                  }),
                  EACCES);
}

TEST_F(Confined, ReadsWhatItServes) {
  EXPECT_CONFINED(
      confined([](const Store& store) {
        const auto file = store.open_file("file");
        std::array<char, 8> text{};
        return file && ::read(file->file.get(), text.data(), text.size()) == 7 ? kAllowed : 1;
      }),
      kAllowed);
  EXPECT_CONFINED(
      confined([](const Store& store) { return store.open_directory("") ? kAllowed : 1; }),
      kAllowed);
}

TEST_F(Confined, WritesAndReplacesWhatItServes) {
  const auto put = [](const Store& store) {
    auto pending = store.create_file("file", 3);
    const std::array content{std::byte{'n'}, std::byte{'e'}, std::byte{'w'}};
    if (!pending || !pending->append(content, 0)) return 1;
    if (const auto synced = pending->sync(); !synced) return synced.error().value();
    const auto published = pending->publish();
    return published ? kAllowed : published.error().value();
  };
  EXPECT_CONFINED(confined(put), kAllowed);
  EXPECT_EQ(scratch_.read("served/file"), "new");
  std::filesystem::remove(scratch_.path() / "served/file");
  EXPECT_CONFINED(confined(put), kAllowed);
  EXPECT_EQ(scratch_.read("served/file"), "new");
}

TEST_F(Confined, MakesCapturesButReadsNone) {
  EXPECT_CONFINED(opening(path("captures/new"), O_CREAT | O_EXCL | O_WRONLY), kAllowed);
  EXPECT_CONFINED(opening(path("captures/new"), O_RDONLY), EACCES);
}

TEST_F(Confined, SeesItsOwnMappings) {  // registration of much memory reads them
  EXPECT_CONFINED(opening("/proc/self/maps", O_RDONLY), kAllowed);
}

TEST_F(Confined, ThreadsThatItStartsAreToo) {
  EXPECT_CONFINED(
      confined([](const Store&) {
        int error = 0;
        std::thread([&error] { error = ::open("/etc/passwd", O_RDONLY) < 0 ? errno : 0; }).join();
        return error;
      }),
      EACCES);
}

TEST_F(Confined, ConnectsToNobody) {
  EXPECT_CONFINED(confined([](const Store&) {
                    const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
                    sockaddr_in at = iwarp::test::loopback(0);
                    auto* const address = reinterpret_cast<sockaddr*>(&at);
                    socklen_t size = sizeof at;
                    const bool listens = ::bind(listener.get(), address, size) == 0 &&
                                         ::listen(listener.get(), 1) == 0 &&
                                         ::getsockname(listener.get(), address, &size) == 0;
                    if (!listens) return 1;
                    const Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
                    if (::connect(client.get(), address, size) != 0) return errno;
                    const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
                    return abi < 4 ? EACCES : 0;  // younger kernels forbid it
                  }),
                  EACCES);
}

TEST_F(Confined, SignalsNobodyElse) {
  EXPECT_CONFINED(confined([](const Store&) {
                    if (::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1) < 6) return EPERM;
                    return ::kill(::getppid(), 0) == 0 ? 0 : errno;
                  }),
                  EPERM);
}

TEST(Privileges, AreGivenUp) {
  EXPECT_EQ(
      in_child([] { return give_up_privileges() ? ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) : 5; }),
      1);
}

/// From now on Landlock's calls fail in this process as in a kernel without it.
void hide_landlock(unsigned error) {
  std::array filter{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{filter.size(), filter.data()};
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

TEST_F(Confined, WithoutLandlockTheReasonIsTold) {
  for (const int reason : {ENOSYS, EOPNOTSUPP}) {
    EXPECT_EQ(in_child([&] {
                const Store store = Store::open(path("served"));
                if (!give_up_privileges()) return 1;
                hide_landlock(static_cast<unsigned>(reason));
                const auto abi = confine({store.root(), "", 0});
                return abi ? 1 : abi.error().value();
              }),
              reason);
  }
}

TEST(LandlockRights, GrowWithTheVersion) {
  EXPECT_EQ(landlock_rights(0), LandlockRights{});
  EXPECT_EQ(landlock_rights(1), (LandlockRights{0x1FFF, 0, 0}));
  EXPECT_EQ(landlock_rights(2), (LandlockRights{0x3FFF, 0, 0}));
  EXPECT_EQ(landlock_rights(3), (LandlockRights{0x7FFF, 0, 0}));
  EXPECT_EQ(landlock_rights(4), (LandlockRights{0x7FFF, 3, 0}));
  EXPECT_EQ(landlock_rights(5), (LandlockRights{0xFFFF, 3, 0}));
  EXPECT_EQ(landlock_rights(6), (LandlockRights{0xFFFF, 3, 3}));
  EXPECT_EQ(landlock_rights(99), landlock_rights(6));
}

}  // namespace
}  // namespace iwarp::cli::file_service
