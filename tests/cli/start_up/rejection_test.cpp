#include "start_up/rejection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/bytes_of.hpp"
#include "file_service/wire/protocol.hpp"

namespace iwarp::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr std::size_t kMost = 508;

const Rejection kExample{Service::kPerf, 3, 5, "the server is full"};

std::vector<std::byte> octets(const std::string& text) {
  const ConstBytes bytes = bytes_of(text);
  return {bytes.begin(), bytes.end()};
}

// A code that has words, and all others.
const char* words_for(std::uint8_t code) { return code == 5 ? "the fifth reason" : nullptr; }

std::string told(ConstBytes private_data) {
  return describe_rejection("connecting to there:1", private_data, Service::kPerf, words_for);
}

TEST(Rejection, SurvivesTheWire) {
  const auto rejection = Rejection::parse(kExample.encode(kMost));
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->service, Service::kPerf);
  EXPECT_EQ(rejection->version, 3);
  EXPECT_EQ(rejection->code, 5);
  EXPECT_EQ(rejection->text, "the server is full");
}

// The form is the same for ever.
TEST(Rejection, HasTheDocumentedOctets) {
  EXPECT_EQ((Rejection{Service::kFiles, 1, 4, "no room"}.encode(kMost)),
            octets(std::string("IWFS\1\4\0\7no room", 15)));
}

TEST(Rejection, OfALaterVersionIsReadAndWhatFollowsIsIgnored) {
  auto bytes = Rejection{Service::kFiles, 200, 250, "too old"}.encode(kMost);
  bytes.resize(bytes.size() + 100, std::byte{0xFF});
  const auto rejection = Rejection::parse(bytes);
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->version, 200);
  EXPECT_EQ(rejection->text, "too old");
}

TEST(Rejection, ThatIsTruncatedIsNone) {
  const auto bytes = kExample.encode(kMost);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Rejection::parse(ConstBytes(bytes).first(size))) << size;
  }
}

TEST(Rejection, OfAForeignProgramIsNone) {
  for (const std::string& foreign :
       {std::string(), std::string("HTTP/1.1 400 Bad Request"), std::string(512, '\0'),
        std::string("IWFT\1\4\0\7no room", 15), std::string(512, '\xFF')}) {
    EXPECT_FALSE(Rejection::parse(bytes_of(foreign))) << foreign;
  }
}

TEST(Rejection, HasNoTextThatSteersATerminal) {
  const auto rejection =
      Rejection::parse(Rejection{Service::kPerf, 1, 1, "a\x1B[2J\r\nb\xC2\x9Bm"}.encode(kMost));
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->text, "a?[2J??b?m");
}

TEST(Rejection, HasNoTextThatIsNotUtf8) {
  const auto rejection = Rejection::parse(
      Rejection{Service::kPerf, 1, 1, "gr\xC3\xBC\xDF and \xE2\x82 and \xFF"}.encode(kMost));
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->text, "gr\xC3\xBC? and ?? and ?");
}

TEST(Rejection, TakesNoMoreRoomThanThereIs) {
  const std::string long_text(1000, 'x');
  for (const std::size_t most : {std::size_t{12}, std::size_t{251}, kMost}) {
    const auto bytes = Rejection{Service::kPerf, 1, 1, long_text}.encode(most);
    EXPECT_EQ(bytes.size(), most);
    const auto rejection = Rejection::parse(bytes);
    ASSERT_TRUE(rejection) << most;
    EXPECT_EQ(rejection->text, long_text.substr(0, most - 8));
  }
}

TEST(Rejection, IsCutBehindAWholeCharacter) {
  EXPECT_EQ(cut("\xE2\x82\xAC\xE2\x82\xAC", 5), "\xE2\x82\xAC");
  EXPECT_EQ(cut("\xE2\x82\xAC", 2), "");
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut("abcd", 3), "abc");
}

// Clients of files that are older than this form want twelve octets, of which they read six.
TEST(Rejection, IsReadByOlderClients) {
  for (const char* text : {"", "no", "the server has as many clients as it takes"}) {
    const auto bytes = Rejection{Service::kFiles, 1, 4, text}.encode(kMost);
    EXPECT_GE(bytes.size(), file_service::Welcome::kSize) << text;
    EXPECT_TRUE(Rejection::parse(bytes)) << text;
  }
}

TEST(Rejection, OfAnOlderServerHasACodeAndNoText) {
  const auto rejection = Rejection::parse(bytes_of(std::string("IWFS\1\4\0\0\0\0\0\0", 12)));
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->code, 4);
  EXPECT_EQ(rejection->text, "");
}

TEST(Rejection, IsToldWithWhatWasAskedByWhichServerAndWhy) {
  EXPECT_EQ(told(kExample.encode(kMost)),
            "connecting to there:1: 'iwarp perf server' refused: the server is full");
}

TEST(Rejection, WithoutATextIsToldByItsCode) {
  EXPECT_THAT(told(Rejection{Service::kPerf, 1, 5, ""}.encode(kMost)),
              EndsWith("refused: the fifth reason"));
  EXPECT_THAT(told(Rejection{Service::kPerf, 1, 77, ""}.encode(kMost)), HasSubstr("number 77"));
}

TEST(Rejection, OfTheOtherServerSaysWhichIsThere) {
  EXPECT_EQ(told(Rejection{Service::kFiles, 1, 2, "wrong magic"}.encode(kMost)),
            "connecting to there:1: refused, since 'iwarp serve' listens there instead of 'iwarp "
            "perf server'");
}

TEST(Rejection, ThatIsNoneOfOursIsToldAsAPlainOne) {
  for (const std::string& foreign : {std::string(), std::string("\x1B[2Jgo away")}) {
    const std::string sentence = told(bytes_of(foreign));
    EXPECT_THAT(sentence, HasSubstr("connecting to there:1: the peer refused without a reason"));
    EXPECT_THAT(sentence, testing::Not(HasSubstr("go away")));
  }
}

}  // namespace
}  // namespace iwarp::cli
