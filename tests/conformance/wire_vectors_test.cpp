#include <gmock/gmock.h>

#include "conformance/vector_support.hpp"
#include "wire/fpdu.hpp"
#include "wire/rdmap.hpp"
#include "wire/segment.hpp"
#include "wire/startup_frame.hpp"

/// The tester's own encoders and parsers against octets of the RFC and of a kernel peer.
namespace iwarp::conform::test {
namespace {

using testing::IsEmpty;

TEST(WireVectors, TheWriterMakesTheFiguresOfTheRfc) {
  const auto vectors = load_vectors("rfc5044.txt");
  FpduWriter writer({.crc = true, .markers = true});
  EXPECT_EQ(writer.frame(encode(untagged_segment(kSend, 0, 1, 0, Octets(24)))),
            vectors.at("figure-5-first-fpdu"));
  FpduWriter second({.crc = true, .markers = true});
  second.frame(Octets(482));  // 4 of Marker, 2 of length, 4 of CRC: 492 in all
  ASSERT_EQ(second.position(), 492U);
  EXPECT_EQ(second.frame(encode(untagged_segment(kSend, 0, 2, 0, Octets(24)))),
            vectors.at("figure-6-second-fpdu"));
}

TEST(WireVectors, TheReaderTakesWhatSiwSendsAndTheWriterMakesTheSame) {
  std::size_t seen = 0;
  for (const auto& [name, octets] : load_vectors("siw-capture.txt")) {
    if (is_startup(name)) continue;
    const Framing framing{.crc = has_crc(name)};
    FpduReader reader(framing);
    reader.add(octets);
    const auto fpdu = reader.next();
    ASSERT_TRUE(fpdu) << name;
    EXPECT_THAT(fpdu->faults, IsEmpty()) << name;
    EXPECT_EQ(reader.pending(), 0U) << name;
    const auto segment = parse_segment(fpdu->ulpdu);
    ASSERT_TRUE(segment) << name;
    EXPECT_EQ(FpduWriter(framing).frame(encode(*segment)), octets) << name;
    ++seen;
  }
  EXPECT_EQ(seen, 19U);
}

TEST(WireVectors, StartupFramesOfSiwComeBackAsTheyWere) {
  std::size_t seen = 0;
  for (const auto& [name, octets] : load_vectors("siw-capture.txt")) {
    if (!is_startup(name)) continue;
    std::size_t size = 0;
    auto frame = parse_startup_frame(octets, size);
    ASSERT_TRUE(frame) << name;
    EXPECT_EQ(size, octets.size()) << name;
    EXPECT_TRUE(frame->enhanced) << name;
    EXPECT_EQ(frame->crc(), has_crc(name)) << name;
    frame->stated_length.reset();
    EXPECT_EQ(encode(*frame), octets) << name;
    ++seen;
  }
  EXPECT_EQ(seen, 12U);
}

TEST(WireVectors, ParsesTheReadRequestOfSiw) {
  const Octets octets = load_vectors("siw-capture.txt").at("overrun-read-request");
  const auto segment = parse_segment(OctetView(octets).subspan(2, 46));
  ASSERT_TRUE(segment);
  EXPECT_EQ(segment->qn, kReadQueue);
  const auto request = parse_read_request(segment->payload);
  ASSERT_TRUE(request);
  EXPECT_EQ(*request, (ReadRequest{.sink_stag = 0x95ce4c00,
                                   .sink_to = 0x000055919160f3b0,
                                   .size = 100,
                                   .source_stag = 0xe369e500,
                                   .source_to = 0x000055ebda9b4700}));
  EXPECT_EQ(encode(*request), segment->payload);
}

}  // namespace
}  // namespace iwarp::conform::test
