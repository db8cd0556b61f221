#include "report/frame_table.hpp"

#include "report/text.hpp"

namespace iwarp::conform {
namespace {

using Json = FrameTable::Json;

// Of longer frames only the two ends are on the page; the capture has all of them.
constexpr std::size_t kLongestShown = 2048, kHeadShown = 1536, kTailShown = 256;

std::size_t number_of(Json& list, std::map<std::string, std::size_t>& numbers, const Json& item) {
  const auto [found, added] = numbers.emplace(item.dump(), list.size());
  if (added) list.push_back(item);
  return found->second;
}

Json shown_octets(OctetView octets) {
  if (octets.size() <= kLongestShown) return Json::array({base64(octets)});
  return Json::array({base64(octets.first(kHeadShown)), base64(octets.last(kTailShown))});
}

}  // namespace

std::string base64(OctetView octets) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < octets.size(); at += 3) {
    const std::size_t there = std::min<std::size_t>(3, octets.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < there ? octets[at + i] : 0U);
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= there ? kDigits[group >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

std::size_t FrameTable::text(const std::string& text) {
  return number_of(texts_, text_numbers_, Json(text));
}

std::size_t FrameTable::shape(const std::vector<Field>& fields) {
  Json shape = Json::array();
  for (const Field& field : fields) {
    Json ranges = Json::array();
    for (const Range& range : field.ranges) {
      ranges.push_back(range.offset);
      ranges.push_back(range.size);
    }
    shape.push_back({text(field.name), static_cast<int>(field.part), field.depth, std::move(ranges),
                     field.bits.empty() ? 0 : 1});
  }
  return number_of(shapes_, shape_numbers_, shape);
}

std::size_t FrameTable::frame(const OctetView& octets, const std::vector<Field>& fields) {
  Json values = Json::array(), irregular = Json::array();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    values.push_back(text(fields[i].value));
    if (!fields[i].bits.empty()) values.push_back(text(fields[i].bits));
    if (fields[i].irregular) irregular.push_back(i);
  }
  const Json frame{shape(fields), octets.size(), shown_octets(octets), std::move(values),
                   std::move(irregular)};
  return number_of(frames_, frame_numbers_, frame);
}

}  // namespace iwarp::conform
