#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/endpoint.hpp"

namespace iwarp::test {

using rdmap::Opcode;
using rdmap::Operation;

/// A segment on the wire, taken apart.
struct Sent {
  Opcode opcode{};
  ddp::Last last{};
  ddp::TaggedHeader tagged;
  ddp::UntaggedHeader untagged;
  Ulpdu payload;
};

inline Sent take_apart(const Ulpdu& ulpdu) {
  Sent sent;
  const auto segment = ddp::parse(ulpdu);
  EXPECT_TRUE(segment);
  const auto note = [&sent](const auto& header, ConstBytes payload) {
    sent.opcode = static_cast<Opcode>(rdmap::decode_control(header.rsvd_ulp).opcode);
    sent.last = header.last;
    sent.payload.assign(payload.begin(), payload.end());
  };
  if (const auto* tagged = std::get_if<ddp::TaggedSegment>(&*segment)) {
    sent.tagged = tagged->header;
    note(tagged->header, tagged->payload);
  } else {
    const auto& untagged = std::get<ddp::UntaggedSegment>(*segment);
    sent.untagged = untagged.header;
    note(untagged.header, untagged.payload);
  }
  return sent;
}

/// An endpoint that sends to the test itself.
class TransmitterTest : public testing::Test {
 protected:
  static constexpr std::size_t kSize = 4096;

  explicit TransmitterTest(const EndpointOptions& options = {})
      : endpoint(options),
        memory(endpoint.enable(kSize, ddp::Rights::kLocalWrite | ddp::Rights::kRemoteRead)) {
    const Ulpdu data = pattern(kSize);
    std::copy(data.begin(), data.end(), memory.memory.data());
  }

  void post(Operation operation, std::uint32_t length, std::uint32_t at = 0) {
    endpoint.post(request_of(operation, kRemote, TaggedOffset{16384}), {memory.sge(at, length)});
  }
  /// The peer asks for `length` octets from `at` on.
  void ask(std::uint32_t length, std::uint32_t at = 0) {
    ASSERT_TRUE(endpoint.responses.admits(rdmap::Owed::kReadResponse));
    endpoint.responses.append(
        {Stag{0x51}, TaggedOffset{0x6100}, length, memory.stag, memory.to(at)});
  }
  /// Sends what may leave now, at most `most` segments.
  std::vector<Sent> send(std::size_t mulpdu = 1500, std::size_t most = SIZE_MAX) {
    std::vector<Sent> sent;
    for (const Ulpdu& ulpdu : endpoint.transmit(mulpdu, most)) {
      EXPECT_LE(ulpdu.size(), mulpdu);
      sent.push_back(take_apart(ulpdu));
    }
    return sent;
  }
  /// One letter per segment: S, W, R (Read Request), A (answer to a Read), T; small if not the
  /// last.
  static std::string letters(const std::vector<Sent>& sent) {
    constexpr char kLast[] = "WRASSSST";
    constexpr char kMiddle[] = "wrasssst";
    std::string text;
    for (const Sent& s : sent) {
      const auto opcode = static_cast<std::size_t>(s.opcode);
      text.push_back(s.last == ddp::Last::kYes ? kLast[opcode] : kMiddle[opcode]);
    }
    return text;
  }
  [[nodiscard]] Ulpdu octets(std::uint32_t at, std::uint32_t length) const {
    const ConstBytes part = memory.part(at, length);
    return {part.begin(), part.end()};
  }

  static constexpr Stag kRemote{0xABCD01};
  Endpoint endpoint;
  Region& memory;
};

}  // namespace iwarp::test
