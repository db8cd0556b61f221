#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "report/reported_events.hpp"

namespace iwarp::conform {

/// Texts and decoded frames of a page, each written once however often it occurs: most cases begin
/// with the same frames, and most frames differ in a few values only.
class FrameTable {
 public:
  using Json = nlohmann::json;

  /// The number of a text, which has been cleaned.
  std::size_t text(const std::string& text);
  /// The number of the frame. Its octets are kept but for the middle of long ones.
  std::size_t frame(const OctetView& octets, const std::vector<Field>& fields);

  const Json& texts() const { return texts_; }
  const Json& shapes() const { return shapes_; }
  const Json& frames() const { return frames_; }

 private:
  std::size_t shape(const std::vector<Field>& fields);

  Json texts_ = Json::array(), shapes_ = Json::array(), frames_ = Json::array();
  std::map<std::string, std::size_t> text_numbers_, shape_numbers_, frame_numbers_;
};

std::string base64(OctetView octets);

}  // namespace iwarp::conform
