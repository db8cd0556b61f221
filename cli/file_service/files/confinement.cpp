#include "file_service/files/confinement.hpp"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <ctime>

#include "file_service/files/stream_hasher.hpp"
#include "log.hpp"

namespace iwarp::cli::file_service {
namespace {

// What <linux/landlock.h> of Linux 6.1 does not have yet is here by its number.
enum FileRight : std::uint64_t {
  kWriteFile = LANDLOCK_ACCESS_FS_WRITE_FILE,
  kReadFile = LANDLOCK_ACCESS_FS_READ_FILE,
  kReadDirectory = LANDLOCK_ACCESS_FS_READ_DIR,
  kRemoveFile = LANDLOCK_ACCESS_FS_REMOVE_FILE,
  kMakeFile = LANDLOCK_ACCESS_FS_MAKE_REG,
  kFirstFileRights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1,
  kLinkElsewhere = 1ULL << 13U,
  kTruncate = 1ULL << 14U,
  kControlDevice = 1ULL << 15U,
};
enum PortRight : std::uint64_t { kBind = 1ULL << 0U, kConnect = 1ULL << 1U };
enum Scope : std::uint64_t { kAbstractSocket = 1ULL << 0U, kSignal = 1ULL << 1U };
constexpr int kRuleForPort = 2;

struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t ports;
  std::uint64_t scopes;
};
struct PortAttributes {
  std::uint64_t allowed;
  std::uint64_t port;
};

// Writing is O_TMPFILE, a link to the final name, or a rename over what has it: all in one
// directory, for which kLinkElsewhere is not needed, and nothing is truncated.
constexpr std::uint64_t kServing =
    kReadFile | kReadDirectory | kWriteFile | kMakeFile | kRemoveFile;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

FileResult<int> result_of(long answer) {
  if (answer < 0) return errno_failure();
  return static_cast<int>(answer);
}

FileResult<void> allow_below(const Fd& rules, const Fd& place, std::uint64_t rights) {
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = place.get();
  const long added =
      ::syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  if (added != 0) return errno_failure();
  return {};
}

// What is not there need not be allowed.
FileResult<void> allow_below(const Fd& rules, const std::string& path, std::uint64_t rights) {
  const Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place) return {};
  return allow_below(rules, place, rights);
}

FileResult<void> allow_port(const Fd& rules, std::uint16_t port) {
  const PortAttributes rule{kBind, port};
  if (::syscall(SYS_landlock_add_rule, rules.get(), kRuleForPort, &rule, 0) != 0) {
    return errno_failure();
  }
  return {};
}

FileResult<void> allow_adapters(const Fd& rules, const LandlockRights& known) {
  const std::uint64_t device = kReadFile | kReadDirectory | kWriteFile | kControlDevice;
  const auto done = allow_below(rules, "/dev/infiniband", device & known.files);
  return done ? allow_below(rules, "/sys", kReadFile | kReadDirectory) : done;
}

FileResult<void> allow(const Fd& rules, const Confinement& what, const LandlockRights& known) {
  auto done = allow_below(rules, what.directory, kServing);
  // Without the list of the process's mappings each registration of a transfer's buffers would
  // touch all of them.
  if (done) done = allow_below(rules, "/proc/self/maps", kReadFile);
  // At the end LeakSanitizer looks at the threads and mappings of the process, which it does
  // through a process of its own.
  if (done && kSanitized) done = allow_below(rules, "/proc", kReadFile | kReadDirectory);
  if (done && what.adapter) done = allow_adapters(rules, known);
  if (done && !what.captures.empty()) {
    // One whose last block was cut is truncated.
    const std::uint64_t capturing = kWriteFile | kMakeFile | kTruncate;
    done = allow_below(rules, what.captures, capturing & known.files);
  }
  if (done && (known.ports & kBind) != 0) done = allow_port(rules, what.port);
  return done;
}

// Whatever these open when they are first used they open now: the zone of the log's times, and the
// configuration of the library that hashes.
void load_what_is_loaded_late() {
  ::tzset();
  StreamHasher(HashKind::kSha256).finish();
}

}  // namespace

LandlockRights landlock_rights(int abi) {
  LandlockRights rights;
  if (abi >= 1) rights.files |= kFirstFileRights;
  if (abi >= 2) rights.files |= kLinkElsewhere;
  if (abi >= 3) rights.files |= kTruncate;
  if (abi >= 4) rights.ports |= kBind | kConnect;
  if (abi >= 5) rights.files |= kControlDevice;
  if (abi >= 6) rights.scopes |= kAbstractSocket | kSignal;
  return rights;
}

FileResult<void> give_up_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno_failure();
  return {};
}

FileResult<int> confine(const Confinement& to) {
  const auto abi = result_of(
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
  if (!abi) return abi;
  const LandlockRights known = landlock_rights(*abi);
  // An older kernel takes the longer structure as long as what it does not know is zero.
  const RulesetAttributes handled{known.files, known.ports, known.scopes};
  const auto made = result_of(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0));
  if (!made) return made;
  const Fd rules(*made);
  if (const auto allowed = allow(rules, to, known); !allowed) return failure(allowed.error());
  if (::syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) return errno_failure();
  return abi;
}

void drop_what_is_not_needed(const Confinement& to) {
  load_what_is_loaded_late();
  if (const auto given_up = give_up_privileges(); !given_up) {
    log_warning("programs could get more rights than this one: {}", given_up.error().message());
  }
  const auto abi = confine(to);
  if (abi) return log_info("confined to the directory by Landlock, version {}", *abi);
  log_warning("not confined to the directory: Landlock says {} (errno {})", abi.error().message(),
              abi.error().value());
}

}  // namespace iwarp::cli::file_service
