#pragma once

#include <gmock/gmock.h>

#include <algorithm>

#include "decode/decode.hpp"
#include "wire/fpdu.hpp"
#include "wire/rdmap.hpp"
#include "wire/segment.hpp"

namespace iwarp::conform::test {

/// An FPDU of `segment`, as an event. `in_front`: octets of the stream before it.
inline Event fpdu_event(OctetView ulpdu, Framing framing = {}, const FpduFault& fault = {},
                        std::size_t in_front = 0) {
  FpduWriter writer(framing);
  while (writer.position() < in_front) {
    const std::size_t left = std::min<std::size_t>(in_front - writer.position(), 128);
    writer.frame(Octets(left < 16 ? 2 : left - 8));
  }
  const std::uint64_t position = writer.position();
  return {.kind = Event::Kind::kFpduReceived,
          .octets = writer.frame(ulpdu, fault),
          .framing = framing,
          .position = position};
}

inline Event startup_event(Octets octets) {
  return {.kind = Event::Kind::kStartupReceived, .octets = std::move(octets)};
}

/// The first field of that name; fails the test if there is none.
inline Field field_of(const Decoded& decoded, std::string_view name) {
  const auto found = std::find_if(decoded.fields.begin(), decoded.fields.end(),
                                  [&](const Field& field) { return field.name == name; });
  if (found != decoded.fields.end()) return *found;
  ADD_FAILURE() << "no field " << name;
  return {.part = Part::kUnknown, .name = "none"};
}

inline std::string value_of(const Decoded& decoded, std::string_view name) {
  return field_of(decoded, name).value;
}

inline std::vector<std::string> irregular_fields(const Decoded& decoded) {
  std::vector<std::string> names;
  for (const Field& field : decoded.fields) {
    if (field.irregular) names.push_back(field.name);
  }
  return names;
}

/// The fields of depth 0 hold each octet once and in order; the others stay inside the one above.
inline void expect_partition(const Event& event, const Decoded& decoded) {
  std::vector<int> covered(event.octets.size());
  std::vector<const Field*> above;
  std::size_t first = 0;
  for (const Field& field : decoded.fields) {
    ASSERT_FALSE(field.ranges.empty()) << field.name;
    ASSERT_GE(field.depth, 0);
    ASSERT_LE(static_cast<std::size_t>(field.depth), above.size()) << field.name;
    above.resize(static_cast<std::size_t>(field.depth));
    for (const Range& range : field.ranges) {
      ASSERT_GT(range.size, 0U) << field.name;
      ASSERT_LE(range.offset + range.size, event.octets.size()) << field.name;
      for (std::size_t i = range.offset; i < range.offset + range.size; ++i) {
        if (field.depth == 0) ++covered[i];
        const auto holds = [i](const Range& outer) {
          return i >= outer.offset && i < outer.offset + outer.size;
        };
        if (!above.empty()) {
          ASSERT_TRUE(std::any_of(above.back()->ranges.begin(), above.back()->ranges.end(), holds))
              << field.name << " leaves " << above.back()->name;
        }
      }
    }
    if (field.depth == 0) {
      ASSERT_GE(field.ranges.front().offset, first) << field.name;
      first = field.ranges.front().offset;
    }
    above.push_back(&field);
  }
  ASSERT_THAT(covered, testing::Each(1));
}

}  // namespace iwarp::conform::test
