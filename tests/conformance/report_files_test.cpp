#include <gmock/gmock.h>

#include <fstream>

#include "conformance/fake_run.hpp"
#include "report/capture/tcp_packets.hpp"
#include "report/writers.hpp"

namespace iwarp::conform::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ReportFiles : public testing::Test {
 protected:
  ReportFiles() : folder_(fs::path(testing::TempDir()) / ("report-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ReportFiles() override { fs::remove_all(folder_); }

  static std::string why(const fs::path& directory) {
    try {
      write_report(fake_report(), directory);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "it was written";
  }

  const fs::path folder_;
};

TEST_F(ReportFiles, AreWrittenAgainOverOlderOnes) {
  EXPECT_EQ(why(folder_ / "new"), "it was written");
  std::ofstream(folder_ / "new" / "index.html") << "old";
  std::ofstream(folder_ / "new" / "of somebody else") << "stays";
  EXPECT_EQ(why(folder_ / "new"), "it was written");
  EXPECT_GT(fs::file_size(folder_ / "new" / "index.html"), 1000U);
  EXPECT_TRUE(fs::exists(folder_ / "new" / "of somebody else"));
}

TEST_F(ReportFiles, SayWhatCannotBeWritten) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_EQ(why(folder_ / "file"), "cannot make the directory " + (folder_ / "file").string() +
                                       " for the report: Not a directory");
  EXPECT_THAT(why(folder_ / "file" / "below"), HasSubstr("for the report: Not a directory"));
  fs::create_directories(folder_ / "taken" / "report.json");
  EXPECT_EQ(why(folder_ / "taken"),
            "cannot write " + (folder_ / "taken" / "report.json").string() + ": Is a directory");
}

TEST(CaptureName, StaysInItsDirectory) {
  Result result;
  result.test.id = "../etc/a b.c";
  EXPECT_EQ(capture_name(result), ".._etc_a_b.c.pcapng");
}

TEST(AddressOctets, TakesNumericAddresses) {
  EXPECT_EQ(address_octets("192.0.2.7"), (Octets{192, 0, 2, 7}));
  EXPECT_EQ(address_octets("fe80::1%eth0")->size(), 16U);
  EXPECT_EQ(address_octets("example.org"), std::nullopt);
  EXPECT_EQ(address_octets(""), std::nullopt);
}

}  // namespace
}  // namespace iwarp::conform::test
