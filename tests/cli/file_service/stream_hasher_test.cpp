#include "file_service/files/stream_hasher.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/bytes_of.hpp"

namespace iwarp::cli::file_service {
namespace {

TEST(StreamHasher, GivesThePublishedDigests) {
  StreamHasher empty(HashKind::kSha256);
  EXPECT_EQ(to_hex(*empty.finish()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const std::string a = "a";
  const std::string bc = "bc";
  StreamHasher abc(HashKind::kSha256);
  abc.submit(bytes_of(a));
  abc.submit(bytes_of(bc));
  EXPECT_EQ(to_hex(*abc.finish()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(StreamHasher, DoesNotDependOnThePieces) {
  const std::string stream(1'000'000, 'x');
  StreamHasher whole(HashKind::kSha256);
  whole.submit(bytes_of(stream));
  StreamHasher pieces(HashKind::kSha256);
  for (std::size_t at = 0; at < stream.size(); at += 999) {
    pieces.submit(bytes_of(stream).subspan(at, std::min<std::size_t>(999, stream.size() - at)));
  }
  EXPECT_EQ(whole.finish(), pieces.finish());
}

TEST(StreamHasher, LetsABufferBeUsedAgainAfterWaiting) {
  std::vector<std::byte> buffer(100'000);
  StreamHasher one_buffer(HashKind::kSha256);
  StreamHasher whole(HashKind::kSha256);
  std::vector<std::byte> all;
  for (std::uint64_t i = 0; i < 50; ++i) {
    one_buffer.wait_for(i);
    std::fill(buffer.begin(), buffer.end(), static_cast<std::byte>(i));
    all.insert(all.end(), buffer.begin(), buffer.end());
    one_buffer.submit(buffer);
  }
  whole.submit(all);
  EXPECT_EQ(one_buffer.finish(), whole.finish());
}

TEST(StreamHasher, OfKindNoneDoesNothing) {
  StreamHasher none(HashKind::kNone);
  none.submit({});
  none.wait_for(1);
  EXPECT_FALSE(none.finish());
}

TEST(StreamHasher, CanBeAbandoned) {
  const std::string stream(10'000'000, 'x');
  StreamHasher hasher(HashKind::kSha256);
  for (int i = 0; i < 10; ++i) hasher.submit(bytes_of(stream));
}

}  // namespace
}  // namespace iwarp::cli::file_service
