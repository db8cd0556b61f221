#include "file_service/wire/protocol.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "cli/bytes_of.hpp"

namespace iwarp::cli::file_service {
namespace {

std::vector<std::byte> encoded(const Request& request) {
  std::vector<std::byte> bytes(kMaxRequest);
  bytes.resize(request.encode(bytes));
  return bytes;
}

std::vector<std::byte> encoded(const Reply& reply) {
  std::vector<std::byte> bytes(kMaxReply);
  bytes.resize(reply.encode(bytes));
  return bytes;
}

ParseError request_error(ConstBytes bytes) {
  const auto view = RequestView::parse(bytes);
  EXPECT_FALSE(view);
  return view ? ParseError{} : view.error();
}

const Request kChunk{.operation = Operation::kPutChunk,
                     .id = 0x01020304,
                     .buffer = {Stag{0xA1B2C3D4}, 0x1122334455667788, 1000},
                     .position = 0x0102030405060708};

TEST(Request, SurvivesARoundTrip) {
  const auto bytes = encoded(kChunk);
  const auto view = RequestView::parse(bytes);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->operation(), Operation::kPutChunk);
  EXPECT_EQ(view->hash(), HashKind::kNone);
  EXPECT_EQ(view->id(), 0x01020304U);
  EXPECT_EQ(view->buffer().stag, Stag{0xA1B2C3D4});
  EXPECT_EQ(view->buffer().offset, 0x1122334455667788U);
  EXPECT_EQ(view->buffer().length, 1000U);
  EXPECT_EQ(view->position(), 0x0102030405060708U);
  EXPECT_EQ(view->name(), "");
}

TEST(Request, HasTheDocumentedBytes) {
  const unsigned char expected[] = {
      'I',  'W',  'F',  'S',  1,    2,    0,    0,     // magic, version, operation, hash
      1,    2,    3,    4,    0xA1, 0xB2, 0xC3, 0xD4,  // id, STag
      0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,  // tagged offset
      0,    0,    3,    0xE8, 0,    0,    0,    0,     // length, payload length
      1,    2,    3,    4,    5,    6,    7,    8};    // position
  const auto bytes = encoded(kChunk);
  ASSERT_EQ(bytes.size(), sizeof expected);
  EXPECT_EQ(std::memcmp(bytes.data(), expected, sizeof expected), 0);
}

TEST(Request, CarriesNamesUpToTheLongest) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kMaxName}) {
    const std::string name(size, 'n');
    const auto bytes = encoded(
        {.operation = Operation::kList, .buffer = {Stag{1}, 2, 3}, .payload = bytes_of(name)});
    const auto view = RequestView::parse(bytes);
    ASSERT_TRUE(view) << size;
    EXPECT_EQ(view->name(), name);
  }
}

TEST(Request, CarriesADigestWithACommit) {
  Digest digest;
  digest.fill(std::byte{0x5A});
  const auto bytes =
      encoded({.operation = Operation::kCommit, .hash = HashKind::kSha256, .payload = digest});
  const auto view = RequestView::parse(bytes);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->digest(), digest);
}

TEST(Request, IsRefusedAtEveryTruncatedLength) {
  const auto bytes = encoded({.operation = Operation::kOpenPut, .payload = bytes_of("some/name")});
  ASSERT_TRUE(RequestView::parse(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(request_error(ConstBytes(bytes).first(size)), ParseError::kTruncated) << size;
  }
}

TEST(Request, IsRefusedWithTrailingBytes) {
  auto bytes = encoded(kChunk);
  bytes.push_back(std::byte{0});
  EXPECT_EQ(request_error(bytes), ParseError::kBadPayload);
}

TEST(Request, IsRefusedWithAWrongPreamble) {
  const auto good = encoded(kChunk);
  const struct {
    std::size_t at;
    int value;
    ParseError error;
  } kCases[] = {{0, 'X', ParseError::kBadMagic},     {3, 0, ParseError::kBadMagic},
                {4, 0, ParseError::kBadVersion},     {4, 2, ParseError::kBadVersion},
                {5, 0, ParseError::kBadOperation},   {5, 9, ParseError::kBadOperation},
                {5, 255, ParseError::kBadOperation}, {6, 2, ParseError::kBadHash}};
  for (const auto& c : kCases) {
    auto bytes = good;
    bytes[c.at] = static_cast<std::byte>(c.value);
    EXPECT_EQ(request_error(bytes), c.error) << c.at;
  }
}

TEST(Request, MovesBetweenOneOctetAndAChunk) {
  for (const Operation operation :
       {Operation::kPutChunk, Operation::kGetChunk, Operation::kList, Operation::kListMore}) {
    for (const std::uint64_t length :
         {std::uint64_t{0}, std::uint64_t{kMaxChunk} + 1, std::uint64_t{UINT32_MAX}}) {
      const auto bytes = encoded({.operation = operation, .buffer = {Stag{1}, 0, length}});
      EXPECT_EQ(request_error(bytes), ParseError::kBadBuffer);
    }
    EXPECT_TRUE(
        RequestView::parse(encoded({.operation = operation, .buffer = {Stag{1}, 0, kMaxChunk}})));
  }
}

TEST(Request, CarriesNoBufferWhereNoneBelongs) {
  for (const Operation operation :
       {Operation::kOpenPut, Operation::kCommit, Operation::kOpenGet, Operation::kFinish}) {
    const auto bytes = encoded({.operation = operation, .buffer = {Stag{1}, 0, 1}});
    EXPECT_EQ(request_error(bytes), ParseError::kBadBuffer);
  }
}

TEST(Request, CarriesNoPayloadWhereNoneBelongs) {
  const std::string payload(31, 'x');
  for (const Operation operation : {Operation::kCommit, Operation::kFinish}) {
    const auto bytes = encoded({.operation = operation, .payload = bytes_of(payload)});
    EXPECT_EQ(request_error(bytes), ParseError::kBadPayload);
  }
  EXPECT_EQ(request_error(encoded({.operation = Operation::kCommit,
                                   .hash = HashKind::kSha256,
                                   .payload = bytes_of(payload)})),
            ParseError::kBadPayload);
  EXPECT_EQ(request_error(encoded({.operation = Operation::kGetChunk,
                                   .buffer = {Stag{1}, 0, 1},
                                   .payload = bytes_of(payload)})),
            ParseError::kBadPayload);
}

TEST(Request, WithRandomBytesIsParsedOrRefusedWithoutHarm) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = encoded(kChunk);
    bytes.resize(random() % (kMaxRequest + 1));
    for (int change = 0; change < 4 && !bytes.empty(); ++change) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    if (const auto view = RequestView::parse(bytes)) {
      EXPECT_LE(view->name().size(), kMaxName);
      EXPECT_LE(view->buffer().length, kMaxChunk);
    }
  }
}

TEST(Reply, SurvivesARoundTrip) {
  const std::string text = "words";
  const auto bytes = encoded({.status = Status::kNoSpace,
                              .id = 7,
                              .length = 0xFFFFFFFF,
                              .position = 0x8000000000000001,
                              .payload = bytes_of(text)});
  const auto view = ReplyView::parse(bytes);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->status(), Status::kNoSpace);
  EXPECT_EQ(view->id(), 7U);
  EXPECT_EQ(view->length(), 0xFFFFFFFFU);
  EXPECT_EQ(view->position(), 0x8000000000000001U);
  EXPECT_EQ(view->payload().size(), text.size());
}

TEST(Reply, IsRefusedAtEveryTruncatedLengthAndWithTrailingBytes) {
  const std::string text = "words";
  auto bytes = encoded(Reply{.payload = bytes_of(text)});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto view = ReplyView::parse(ConstBytes(bytes).first(size));
    ASSERT_FALSE(view);
    EXPECT_EQ(view.error(), ParseError::kTruncated);
  }
  bytes.push_back(std::byte{0});
  EXPECT_EQ(ReplyView::parse(bytes).error(), ParseError::kBadPayload);
}

TEST(Reply, CutsWordsThatAreTooLong) {
  const std::string text(1000, 'x');
  const auto view = ReplyView::parse(encoded(Reply{.payload = bytes_of(text)}));
  ASSERT_TRUE(view);
}

TEST(Reply, IsRefusedWithAnUnknownStatus) {
  auto bytes = encoded(Reply{});
  bytes[5] = static_cast<std::byte>(static_cast<int>(kLastStatus) + 1);
  EXPECT_EQ(ReplyView::parse(bytes).error(), ParseError::kBadStatus);
}

TEST(Hello, OfAnyVersionIsUnderstoodAndTruncatedIsNot) {
  const auto bytes = Hello{.version = 9}.encode();
  ASSERT_TRUE(Hello::parse(bytes));
  EXPECT_EQ(Hello::parse(bytes)->version, 9);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(Hello::parse(ConstBytes(bytes).first(size)).error(), ParseError::kTruncated);
  }
  auto wrong = bytes;
  wrong[1] = std::byte{0};
  EXPECT_EQ(Hello::parse(wrong).error(), ParseError::kBadMagic);
}

TEST(Welcome, SurvivesARoundTrip) {
  const auto bytes = Welcome{.credits = 0x0102, .max_chunk = 0x03040506}.encode();
  const auto welcome = Welcome::parse(bytes);
  ASSERT_TRUE(welcome);
  EXPECT_EQ(welcome->credits, 0x0102);
  EXPECT_EQ(welcome->max_chunk, 0x03040506U);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Welcome::parse(ConstBytes(bytes).first(size)));
  }
}

TEST(Welcome, WithoutCreditsOrOfAnotherVersionIsNone) {
  EXPECT_FALSE(Welcome::parse(Welcome{.credits = 0, .max_chunk = 1}.encode()));
  EXPECT_FALSE(Welcome::parse(Welcome{.credits = 1, .max_chunk = 0}.encode()));
  EXPECT_FALSE(Welcome::parse(Welcome{.version = 2, .credits = 1, .max_chunk = 1}.encode()));
}

TEST(Welcome, IsNoRejection) {
  const Rejection rejection{Service::kFiles, kVersion, static_cast<std::uint8_t>(Status::kBusy),
                            "the server has no room"};
  EXPECT_EQ(Welcome::parse(rejection.encode(508)).error(), ParseError::kBadStatus);
}

TEST(Status, HasWordsOfItsOwn) {
  std::set<std::string> all;
  for (int i = 0; i <= static_cast<int>(kLastStatus); ++i) {
    all.insert(describe(static_cast<Status>(i)));
  }
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kLastStatus) + 1);
}

}  // namespace
}  // namespace iwarp::cli::file_service
