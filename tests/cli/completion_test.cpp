#include "completion/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "help/checks.hpp"
#include "program.hpp"
#include "value_sources.hpp"

namespace iwarp::cli {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

/// The program as it is, with devices, interfaces and cases that are always the same.
class CompletionTest : public testing::Test {
 protected:
  Completion completed(std::vector<std::string> words) {
    words.insert(words.begin(), "iwarp");
    return complete(*app_, words, sources_);
  }

  std::vector<std::string> words(std::vector<std::string> before) {
    std::vector<std::string> found;
    for (const Candidate& one : completed(std::move(before)).candidates) found.push_back(one.word);
    return found;
  }

  Context context_;
  std::unique_ptr<CLI::App> app_ = make_app(context_);
  ValueSources sources_ = [this] {
    ValueSources all = value_sources();
    all["DEVICE"] = [] {
      return std::vector<Candidate>{{"soft", ""}, {"soft:lo", ""}, {"rnic:siw0", ""}};
    };
    all["INTERFACE[,INTERFACE...]"] = [] {
      return std::vector<Candidate>{{"eth0", ""}, {"lo", ""}};
    };
    return all;
  }();
};

TEST_F(CompletionTest, OfTheFirstWordAreSubcommands) {
  EXPECT_THAT(words({""}), UnorderedElementsAre("devices", "serve", "put", "get", "ls", "perf",
                                                "agent", "conform", "run", "help"));
  EXPECT_THAT(words({"p"}), UnorderedElementsAre("put", "perf"));
  EXPECT_THAT(words({"perf", "s"}), ElementsAre("server"));
  EXPECT_THAT(words({"x"}), IsEmpty());
}

TEST_F(CompletionTest, SaysWhatAWordDoes) {
  const auto found = completed({"put", "--has"}).candidates;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().description, "Digest that both ends compute and compare");
}

TEST_F(CompletionTest, OfADashAreTheOptionsOfTheSubcommand) {
  EXPECT_THAT(words({"-"}), ElementsAre("-h", "--help", "--version"));
  EXPECT_THAT(words({"put", "--m"}),
              UnorderedElementsAre("--markers", "--max-fpdu", "--mpa-revision"));
  EXPECT_THAT(words({"perf", "server", "--l"}), ElementsAre("--listen", "--log-level"));
  EXPECT_THAT(words({"perf", "host", "--"}), Contains("--baseline"));
  EXPECT_THAT(words({"put", "--", "--m"}), IsEmpty());
}

TEST_F(CompletionTest, OfAnOptionAreItsWords) {
  EXPECT_THAT(words({"put", "--hash", ""}), ElementsAre("sha256", "none"));
  EXPECT_THAT(words({"put", "--hash=n"}), ElementsAre("--hash=none"));
  EXPECT_THAT(words({"perf", "--op", ""}), ElementsAre("write", "read", "send"));
  EXPECT_THAT(words({"ls", "--timeout", ""}), IsEmpty());
  EXPECT_THAT(words({"ls", "--nonsense=", ""}), Not(Contains("sha256")));
}

TEST_F(CompletionTest, OfADeviceAreTheHosts) {
  EXPECT_THAT(words({"ls", "--device", "soft"}), ElementsAre("soft", "soft:lo"));
  EXPECT_THAT(words({"ls", "--device=r"}), ElementsAre("--device=rnic:siw0"));
}

TEST_F(CompletionTest, OfAListAreTheNextMember) {
  EXPECT_THAT(words({"run", "--interfaces", "l"}), ElementsAre("lo"));
  EXPECT_THAT(words({"run", "--interfaces", "lo,"}), ElementsAre("lo,eth0", "lo,lo"));
  EXPECT_THAT(words({"run", "--interfaces=lo,e"}), ElementsAre("--interfaces=lo,eth0"));
}

TEST_F(CompletionTest, LeavesFilesAndDirectoriesToTheShell) {
  EXPECT_EQ(completed({"put", ""}).by, CompletedBy::kFiles);
  EXPECT_EQ(completed({"get", "iwarp://a/b", ""}).by, CompletedBy::kFiles);
  EXPECT_EQ(completed({"serve", ""}).by, CompletedBy::kDirectories);
  EXPECT_EQ(completed({"put", "--capture", ""}).by, CompletedBy::kDirectories);
  EXPECT_EQ(completed({"put", "--capture=/t"}).by, CompletedBy::kDirectories);
  EXPECT_EQ(completed({"put", "file", ""}).by, CompletedBy::kCandidates);
}

TEST_F(CompletionTest, OfArgumentsThatAreCompleteAreOptions) {
  EXPECT_THAT(words({"put", "file", "url", ""}), Each(StartsWith("-")));
  EXPECT_THAT(words({"put", "file", "url", ""}), Contains("--json"));
}

TEST_F(CompletionTest, LeavesAProgramThatIsRunToTheShell) {
  const auto begins = [this](std::vector<std::string> line) {
    const Completion found = completed(std::move(line));
    return found.by == CompletedBy::kProgram ? found.program : 0;
  };
  EXPECT_EQ(begins({"run", ""}), 2U);
  EXPECT_EQ(begins({"run", "rping", "-"}), 2U);
  EXPECT_EQ(begins({"run", "--stats", "--device-as", "ib", "rping", "--st"}), 5U);
  EXPECT_EQ(begins({"run", "--", "rping", "--st"}), 3U);
  EXPECT_EQ(begins({"run", "--", "-"}), 3U);
  EXPECT_EQ(begins({"run", "--st"}), 0U);
  EXPECT_THAT(words({"run", "--st"}), ElementsAre("--stats"));
  EXPECT_THAT(words({"run", "--device-as", ""}), ElementsAre("iwarp", "ib"));
}

TEST_F(CompletionTest, OfCasesAreGroupsToo) {
  EXPECT_THAT(words({"conform", "--case", "mpa.st"}), Contains("mpa.startup"));
  EXPECT_THAT(words({"conform", "--case", "mpa.startup."}), Each(StartsWith("mpa.startup.")));
  EXPECT_THAT(words({"conform", "--layer", ""}), ElementsAre("mpa", "ddp", "rdmap"));
}

TEST_F(CompletionTest, OfHelpAreSubcommands) {
  EXPECT_THAT(words({"help", "pu"}), ElementsAre("put"));
  EXPECT_THAT(words({"help", "perf", "s"}), ElementsAre("server"));
  EXPECT_THAT(words({"help", "put", "s"}), IsEmpty());
  EXPECT_THAT(words({"help", "none", "s"}), IsEmpty());
}

TEST_F(CompletionTest, OfNothingIsNothing) {
  EXPECT_THAT(complete(*app_, {}, sources_).candidates, IsEmpty());
}

}  // namespace
}  // namespace iwarp::cli
