// What others put on the wire: RFC 5044's annotated dumps and captures of Linux siw.
#include "support/vectors.hpp"

#include <gtest/gtest.h>

#include "iwarp/mpa/deframer.hpp"
#include "iwarp/mpa/framer.hpp"
#include "iwarp/mpa/startup_frame.hpp"
#include "mpa/helpers.hpp"
#include "mpa/naive_framer.hpp"

namespace iwarp::mpa::test {
namespace {

using iwarp::test::Vectors;

const Vectors& rfc5044() {
  static const Vectors vectors = Vectors::load("rfc5044.txt");
  return vectors;
}

const Vectors& siw() {
  static const Vectors vectors = Vectors::load("siw-capture.txt");
  return vectors;
}

// The ULPDU of both figures: an untagged header and 24 octets of zero.
Bytes figure_ulpdu(unsigned msn) {
  Bytes ulpdu = from_hex("4143 00000000 00000000 00000000 00000000");
  ulpdu[13] = static_cast<std::byte>(msn);
  ulpdu.resize(42);
  return ulpdu;
}

// What precedes Figure 6: an FPDU that takes 492 octets, its Marker included.
constexpr std::size_t kFirstFpduSize = 492;
Bytes first_ulpdu() { return pattern(kFirstFpduSize - 4 - 2 - 4); }

TEST(Rfc5044, Figure5IsWhatIsFramedFirst) {
  GatherList out(4096, 16);
  const Bytes ulpdu = figure_ulpdu(1);
  Framer(Crc::kOn, Markers::kOn).frame(ulpdu, {}, PayloadUse::kCopy, out);
  EXPECT_EQ(flatten(out), rfc5044().at("figure-5-first-fpdu"));
}

TEST(Rfc5044, Figure6IsWhatIsFramedSecond) {
  for (PayloadUse use : {PayloadUse::kCopy, PayloadUse::kReference}) {
    GatherList out(4096, 64);
    Framer framer(Crc::kOn, Markers::kOn);
    framer.frame(first_ulpdu(), {}, PayloadUse::kCopy, out);
    ASSERT_EQ(out.size(), kFirstFpduSize);
    const Bytes ulpdu = figure_ulpdu(2);
    const std::vector<ConstBytes> payload = {ConstBytes(ulpdu).subspan(18)};
    framer.frame(ConstBytes(ulpdu).first(18), payload, use, out);
    Bytes second = flatten(out);
    second.erase(second.begin(), second.begin() + kFirstFpduSize);
    EXPECT_EQ(second, rfc5044().at("figure-6-second-fpdu"));
  }
}

TEST(Rfc5044, BothFiguresAreDeframed) {
  Deframer first(Crc::kOn, Markers::kOn);
  Bytes wire = rfc5044().at("figure-5-first-fpdu");
  EXPECT_EQ(to_bytes(std::get<Fpdu>(first.next(wire)).ulpdu), figure_ulpdu(1));

  NaiveFramer naive(Crc::kOn, Markers::kOn);
  naive.frame(first_ulpdu());
  wire = naive.stream();
  Deframer second(Crc::kOn, Markers::kOn);
  ASSERT_EQ(std::get<Fpdu>(second.next(wire)).wire_size, kFirstFpduSize);
  wire = rfc5044().at("figure-6-second-fpdu");
  EXPECT_EQ(to_bytes(std::get<Fpdu>(second.next(wire)).ulpdu), figure_ulpdu(2));
}

bool is_startup_frame(const Bytes& bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{'M'};
}

bool has_crc(const Bytes& fpdu) {
  return load_be<std::uint32_t>(fpdu.data() + fpdu.size() - kCrcSize) != 0;
}

TEST(SiwCapture, EveryFpduIsDeframedAndFramedAlike) {
  std::size_t fpdus = 0;
  for (const auto& [name, wire] : siw().all()) {
    if (is_startup_frame(wire)) continue;
    const Crc crc = has_crc(wire) ? Crc::kOn : Crc::kOff;
    Bytes bytes = wire;
    Deframer deframer(crc, Markers::kOff);
    const Deframed result = deframer.next(bytes);
    const auto* fpdu = std::get_if<Fpdu>(&result);
    ASSERT_NE(fpdu, nullptr) << name;
    EXPECT_EQ(fpdu->wire_size, wire.size()) << name;
    GatherList out(4096, 16);
    Framer(crc, Markers::kOff).frame(fpdu->ulpdu, {}, PayloadUse::kCopy, out);
    EXPECT_EQ(flatten(out), wire) << name;
    ++fpdus;
  }
  EXPECT_GE(fpdus, 14U);
}

FrameKind kind_in(const std::string& name) {
  return name.find("reply") == std::string::npos ? FrameKind::kRequest : FrameKind::kReply;
}

TEST(SiwCapture, EveryStartupFrameIsParsedAndEncodedAlike) {
  std::size_t frames = 0;
  for (const auto& [name, wire] : siw().all()) {
    if (!is_startup_frame(wire)) continue;
    const FrameKind kind = kind_in(name);
    const auto view = StartupFrameView::parse(wire, kind);
    ASSERT_TRUE(view) << name;
    EXPECT_EQ(view->revision(), Revision::k2) << name;
    EXPECT_TRUE(view->enhanced().has_value()) << name;
    const StartupFrame frame{kind,
                             view->revision(),
                             view->markers(),
                             view->crc(),
                             view->verdict(),
                             view->enhanced(),
                             view->private_data()};
    Bytes encoded(frame.size());
    ASSERT_TRUE(frame.encode(encoded)) << name;
    EXPECT_EQ(encoded, wire) << name;
    ++frames;
  }
  EXPECT_GE(frames, 10U);
}

TEST(SiwCapture, PeerToPeerRequestOffersWriteAndReadRtr) {
  const auto view = StartupFrameView::parse(siw().at("p2p-crc-request"), FrameKind::kRequest);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->crc(), Crc::kOn);
  EXPECT_EQ(view->markers(), Markers::kOff);
  const EnhancedData expected{
      ConnectionModel::kPeerToPeer, {Rtr::kWrite, Rtr::kRead}, ReadDepth(1), ReadDepth(1)};
  EXPECT_EQ(view->enhanced(), expected);
}

TEST(SiwCapture, DefaultRequestIsClientServerWithoutCrc) {
  const auto view = StartupFrameView::parse(siw().at("default-request"), FrameKind::kRequest);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->crc(), Crc::kOff);
  const EnhancedData expected{ConnectionModel::kClientServer, {}, ReadDepth(1), ReadDepth(1)};
  EXPECT_EQ(view->enhanced(), expected);
}

}  // namespace
}  // namespace iwarp::mpa::test
