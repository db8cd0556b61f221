#include "iwarp/mpa/startup_frame.hpp"

#include <gtest/gtest.h>

#include "mpa/helpers.hpp"

namespace iwarp::mpa::test {
namespace {

Error error_of(ConstBytes bytes, FrameKind kind) {
  const auto view = StartupFrameView::parse(bytes, kind);
  EXPECT_FALSE(view);
  return view ? Error::kWrongState : view.error();
}

// A frame's header, with any flags, revision and PD_Length.
Bytes header(FrameKind kind, unsigned flags, unsigned revision, std::size_t pd_length) {
  Bytes bytes = from_hex(kind == FrameKind::kRequest ? "4d504120494420526571204672616d65"
                                                     : "4d504120494420526570204672616d65");
  bytes.push_back(static_cast<std::byte>(flags));
  bytes.push_back(static_cast<std::byte>(revision));
  bytes.push_back(static_cast<std::byte>(pd_length >> 8U));
  bytes.push_back(static_cast<std::byte>(pd_length & 0xFFU));
  return bytes;
}

constexpr FrameKind kKinds[] = {FrameKind::kRequest, FrameKind::kReply};

std::vector<StartupFrame> all_frames(ConstBytes private_data) {
  std::vector<StartupFrame> frames;
  const EnhancedData enhanced{
      ConnectionModel::kPeerToPeer, {Rtr::kRead}, ReadDepth(3), ReadDepth::not_stated()};
  for (FrameKind kind : kKinds) {
    for (unsigned flags = 0; flags < 8; ++flags) {
      StartupFrame frame;
      frame.kind = kind;
      frame.markers = (flags & 1U) != 0 ? Markers::kOn : Markers::kOff;
      frame.crc = (flags & 2U) != 0 ? Crc::kOn : Crc::kOff;
      frame.verdict = (flags & 4U) != 0 ? Verdict::kRejected : Verdict::kAccepted;
      frame.private_data = private_data;
      frame.revision = Revision::k1;
      frames.push_back(frame);
      frame.revision = Revision::k2;
      frames.push_back(frame);
      frame.enhanced = enhanced;
      frames.push_back(frame);
    }
  }
  return frames;
}

TEST(StartupFrame, EveryCombinationSurvivesTheWire) {
  const Bytes data = pattern(508);
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{508}}) {
    for (const StartupFrame& frame : all_frames(ConstBytes(data).first(size))) {
      const ExactBuffer bytes(encoded(frame));
      const auto view = StartupFrameView::parse(bytes.span(), frame.kind);
      ASSERT_TRUE(view);
      EXPECT_EQ(view->size(), bytes.span().size());
      EXPECT_EQ(view->revision(), frame.revision);
      EXPECT_EQ(view->markers(), frame.markers);
      EXPECT_EQ(view->crc(), frame.crc);
      EXPECT_EQ(view->verdict(), frame.verdict);
      EXPECT_EQ(view->enhanced(), frame.enhanced);
      EXPECT_EQ(to_bytes(view->private_data()), to_bytes(frame.private_data));
    }
  }
}

TEST(StartupFrame, LooksAsTheRfcDrawsIt) {
  StartupFrame frame;
  frame.markers = Markers::kOn;
  frame.revision = Revision::k1;
  const Bytes data = from_hex("aabbcc");
  frame.private_data = data;
  EXPECT_EQ(encoded(frame), from_hex("4d504120494420526571204672616d65 c0 01 0003 aabbcc"));
  frame.kind = FrameKind::kReply;
  frame.verdict = Verdict::kRejected;
  frame.revision = Revision::k2;
  frame.crc = Crc::kOff;
  frame.enhanced = EnhancedData{ConnectionModel::kClientServer, {}, ReadDepth(1), ReadDepth(2)};
  EXPECT_EQ(encoded(frame),
            from_hex("4d504120494420526570204672616d65 b0 02 0007 0001 0002 aabbcc"));
}

TEST(StartupFrame, EveryTruncatedLengthIsTruncated) {
  const Bytes data = pattern(9);
  for (const StartupFrame& frame : all_frames(data)) {
    const Bytes whole = encoded(frame);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const ExactBuffer cut(ConstBytes(whole).first(size));
      ASSERT_EQ(error_of(cut.span(), frame.kind), Error::kTruncated);
      const auto needed = startup_frame_size(cut.span(), frame.kind);
      ASSERT_TRUE(needed);
      ASSERT_EQ(*needed, size < kStartupHeaderSize ? kStartupHeaderSize : whole.size());
    }
  }
}

TEST(StartupFrame, BytesBehindItAreNotItsOwn) {
  Bytes bytes = header(FrameKind::kReply, 0, 1, 2);
  for (char c : {'a', 'b', 'c'}) bytes.push_back(static_cast<std::byte>(c));
  const auto view = StartupFrameView::parse(bytes, FrameKind::kReply);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->size(), 22U);
  EXPECT_EQ(view->private_data().size(), 2U);
}

TEST(StartupFrame, WrongKeyIsFoundAtItsFirstWrongOctet) {
  for (FrameKind kind : kKinds) {
    for (std::size_t wrong = 0; wrong < 16; ++wrong) {
      Bytes bytes = header(kind, 0, 1, 0);
      bytes[wrong] ^= std::byte{0x80};
      for (std::size_t size = 0; size <= bytes.size(); ++size) {
        const auto needed = startup_frame_size(ConstBytes(bytes).first(size), kind);
        ASSERT_EQ(needed.has_value(), size <= wrong);
        if (!needed) {
          ASSERT_EQ(needed.error(), Error::kBadKey);
        }
      }
    }
  }
}

TEST(StartupFrame, KeyOfTheOtherRoleHasAnErrorOfItsOwn) {
  constexpr std::size_t kTellTale = 9;  // "Req" or "Rep"
  for (FrameKind kind : kKinds) {
    const FrameKind got = kind == FrameKind::kReply ? FrameKind::kRequest : FrameKind::kReply;
    const Error expected =
        kind == FrameKind::kReply ? Error::kBothInitiators : Error::kBothResponders;
    const Bytes bytes = header(got, 0, 1, 0);
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
      const auto needed = startup_frame_size(ConstBytes(bytes).first(size), kind);
      ASSERT_EQ(needed.has_value(), size <= kTellTale);
      if (!needed) {
        ASSERT_EQ(needed.error(), expected);
      }
    }
  }
}

TEST(StartupFrame, OnlyRevisions1And2AreSpoken) {
  for (unsigned revision = 0; revision < 256; ++revision) {
    const Bytes bytes = header(FrameKind::kRequest, 0x40, revision, 0);
    if (revision == 1 || revision == 2) {
      EXPECT_TRUE(StartupFrameView::parse(bytes, FrameKind::kRequest));
    } else {
      EXPECT_EQ(error_of(ConstBytes(bytes).first(18), FrameKind::kRequest),
                Error::kUnsupportedRevision);
    }
  }
}

TEST(StartupFrame, PrivateDataBeyond512OctetsIsRefused) {
  for (std::size_t size : {std::size_t{513}, std::size_t{4096}, std::size_t{65535}}) {
    EXPECT_EQ(error_of(header(FrameKind::kRequest, 0, 1, size), FrameKind::kRequest),
              Error::kPrivateDataTooLong);
  }
  Bytes largest = header(FrameKind::kRequest, 0, 1, 512);
  largest.resize(kMaxStartupFrameSize);
  EXPECT_TRUE(StartupFrameView::parse(largest, FrameKind::kRequest));
}

TEST(StartupFrame, EncodeRefusesPrivateDataThatDoesNotFit) {
  const Bytes data = pattern(513);
  Bytes out(1024);
  StartupFrame frame;
  frame.private_data = data;
  EXPECT_EQ(frame.encode(out).error(), Error::kPrivateDataTooLong);
  frame.private_data = ConstBytes(data).first(512);
  EXPECT_TRUE(frame.encode(out));
  frame.enhanced = EnhancedData{};
  EXPECT_EQ(frame.encode(out).error(), Error::kPrivateDataTooLong);
  frame.private_data = ConstBytes(data).first(508);
  EXPECT_EQ(frame.encode(out).value(), kMaxStartupFrameSize);
}

TEST(StartupFrame, EncodeRefusesEnhancedDataInRevision1) {
  Bytes out(64);
  StartupFrame frame;
  frame.revision = Revision::k1;
  frame.enhanced = EnhancedData{};
  EXPECT_EQ(frame.encode(out).error(), Error::kInvalidOptions);
}

TEST(StartupFrame, EnhancedFrameNeedsRoomForItsData) {
  for (FrameKind kind : kKinds) {
    for (std::size_t size = 0; size < kEnhancedDataSize; ++size) {
      EXPECT_EQ(error_of(header(kind, 0x10, 2, size), kind), Error::kMissingEnhancedData);
    }
  }
}

TEST(StartupFrame, SIsAReservedBitInRevision1) {
  Bytes bytes = header(FrameKind::kRequest, 0x10, 1, 2);
  bytes.resize(bytes.size() + 2);
  const auto view = StartupFrameView::parse(bytes, FrameKind::kRequest);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->enhanced(), std::nullopt);
  EXPECT_EQ(view->private_data().size(), 2U);
}

TEST(StartupFrame, ReservedBitsAreIgnored) {
  for (unsigned reserved = 0; reserved < 16; ++reserved) {
    const Bytes bytes = header(FrameKind::kReply, 0x40 | reserved, 2, 0);
    const auto view = StartupFrameView::parse(bytes, FrameKind::kReply);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->crc(), Crc::kOn);
    EXPECT_EQ(view->markers(), Markers::kOff);
    EXPECT_EQ(view->verdict(), Verdict::kAccepted);
    EXPECT_EQ(view->enhanced(), std::nullopt);
  }
}

}  // namespace
}  // namespace iwarp::mpa::test
