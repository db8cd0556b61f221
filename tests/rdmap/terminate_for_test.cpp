#include <gtest/gtest.h>

#include "iwarp/rdmap/terminate.hpp"
#include "support/rdmap_fixture.hpp"

namespace iwarp::rdmap {
namespace {

using test::segment;
using test::Ulpdu;

enum class Kind { kWrite, kSend, kSendInvalidate, kReadRequest };
constexpr Kind kKinds[] = {Kind::kWrite, Kind::kSend, Kind::kSendInvalidate, Kind::kReadRequest};

const ReadRequest kRefused{Stag{1}, TaggedOffset{2}, 3, Stag{4}, TaggedOffset{5}};

Ulpdu ulpdu_of(Kind kind) {
  switch (kind) {
    case Kind::kWrite:
      return segment(test::tagged(Opcode::kWrite, Stag{9}, TaggedOffset{8}), test::pattern(40));
    case Kind::kSend: return segment(test::untagged(Opcode::kSend, 1), test::pattern(28));
    case Kind::kSendInvalidate:
      return segment(test::untagged(Opcode::kSendInvalidate, 1), test::pattern(28));
    case Kind::kReadRequest:
      return segment(test::untagged(Opcode::kReadRequest, 1), test::encoded(kRefused));
  }
  return {};
}

// A row of RFC 5040 Figure 10.
struct HeaderRow {
  Cause cause;
  bool ddp_header, rdma_header;
};
constexpr HeaderRow kFigure10[] = {
    {{Layer::kRdmap, 0, 0x00}, false, false},
    {{Layer::kRdmap, 0, 0x55}, false, false},
    {{Layer::kRdmap, 1, 0x00}, true, true},
    {{Layer::kRdmap, 1, 0x09}, true, true},
    {{Layer::kRdmap, 2, 0x06}, true, false},
    {{Layer::kRdmap, 2, 0xFF}, true, false},
    {{Layer::kDdp, 1, 0x01}, true, false},
    {{Layer::kDdp, 2, 0x02}, true, false},
    {{Layer::kLlp, 0, 0x02}, false, false},
    {{Layer::kLlp, 0, 0x05}, false, false},
    // §4.8: a local catastrophic error has no DDP header, whatever the layer.
    {{Layer::kDdp, 0, 0x00}, false, false},
};

void expect_headers(const Terminate& message, const HeaderRow& row, Kind kind) {
  const Ulpdu ulpdu = ulpdu_of(kind);
  EXPECT_EQ(message.cause, row.cause);
  EXPECT_EQ(message.segment_length.has_value(), row.ddp_header);
  const std::size_t size = kind == Kind::kWrite ? 14 : 18;
  ASSERT_EQ(message.ddp_header_size, row.ddp_header ? size : 0U);
  if (row.ddp_header) {
    EXPECT_EQ(*message.segment_length, ulpdu.size());
    EXPECT_TRUE(std::equal(ulpdu.begin(), ulpdu.begin() + static_cast<std::ptrdiff_t>(size),
                           message.ddp_header.begin()));
  }
  // §4.8: the RDMA header is sent back for Read Requests only.
  const bool with_request = row.rdma_header && kind == Kind::kReadRequest;
  EXPECT_EQ(message.read_request, with_request ? std::optional(kRefused) : std::nullopt);
}

TEST(TerminateFor, IncludesTheHeadersOfRfc5040Figure10) {
  for (const HeaderRow& row : kFigure10) {
    for (const Kind kind : kKinds) {
      SCOPED_TRACE(describe(row.cause) + (" of kind " + std::to_string(static_cast<int>(kind))));
      expect_headers(terminate_for(row.cause, ulpdu_of(kind)), row, kind);
    }
  }
}

TEST(TerminateFor, IncludesNoHeaderThatDidNotArrive) {
  for (const Kind kind : kKinds) {
    const Ulpdu whole = ulpdu_of(kind);
    const std::size_t header = kind == Kind::kWrite ? 14 : 18;
    for (std::size_t size = 0; size < header; ++size) {
      const ConstBytes cut = ConstBytes(whole).first(size);
      const Terminate message = terminate_for({Layer::kRdmap, 2, 0x07}, cut);
      EXPECT_EQ(message.segment_length, std::nullopt);
      EXPECT_EQ(message.ddp_header_size, 0U);
    }
  }
}

TEST(TerminateFor, IncludesNoPartOfAReadRequestHeader) {
  const Ulpdu whole = ulpdu_of(Kind::kReadRequest);
  for (std::size_t size = 18; size < whole.size(); ++size) {
    const Terminate message =
        terminate_for({Layer::kRdmap, 1, 0x00}, ConstBytes(whole).first(size));
    EXPECT_EQ(message.read_request, std::nullopt) << size;
    EXPECT_EQ(message.ddp_header_size, 18U);
  }
}

TEST(TerminateFor, StatesTheLengthOfTheLongestSegment) {
  const Ulpdu ulpdu = segment(test::tagged(Opcode::kWrite, Stag{9}, TaggedOffset{8}), Ulpdu(64754));
  EXPECT_EQ(terminate_for({Layer::kDdp, 1, 0x00}, ulpdu).segment_length, 64768);
}

}  // namespace
}  // namespace iwarp::rdmap
