#include "iwarp/rdmap/describe.hpp"

#include "iwarp/rdmap/control.hpp"

namespace iwarp::rdmap {
namespace {

// RFC 5041 §4.2 and §4.3.
constexpr unsigned kTagged = 0x80;
constexpr unsigned kLast = 0x40;
constexpr unsigned kVersionMask = 0x03;
constexpr std::size_t kControlAt = 1;
constexpr std::size_t kTaggedStagAt = 2;
constexpr std::size_t kTaggedOffsetAt = 6;
constexpr std::size_t kInvalidateStagAt = 2;  // of Sends with Invalidate (RFC 5040 §4.1)
constexpr std::size_t kQueueNumberAt = 6;
constexpr std::size_t kMsnAt = 10;
constexpr std::size_t kMessageOffsetAt = 14;

template <typename T>
std::string hex(T value) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 4; shift >= 0; shift -= 4) {
    text += kDigits[value >> static_cast<unsigned>(shift) & 0xFU];
  }
  return text;
}

// Appends fields while there are octets for them.
class Fields {
 public:
  explicit Fields(ConstBytes header) : header_(header) {}

  template <typename T>
  void add_hex(const char* name, std::size_t at) {
    if (has(at + sizeof(T))) text += std::string(", ") + name + " " + hex(load_be<T>(&header_[at]));
  }
  void add_number(const char* name, std::size_t at) {
    if (!has(at + 4)) return;
    text += std::string(", ") + name + " " + std::to_string(load_be<std::uint32_t>(&header_[at]));
  }
  [[nodiscard]] bool has(std::size_t size) const { return size <= header_.size(); }

  std::string text;

 private:
  ConstBytes header_;
};

std::string opcode_text(const Control& control) {
  const OpcodeTraits* known = traits(control.opcode);
  std::string text = "opcode " + std::to_string(control.opcode) + " (" +
                     (known != nullptr ? known->name : "reserved") + ")";
  if (control.version != 1) text += ", RDMAP version " + std::to_string(control.version);
  return text;
}

}  // namespace

std::string describe_header(ConstBytes segment) {
  if (segment.empty()) return "no header";
  const auto first = std::to_integer<unsigned>(segment[0]);
  const bool tagged = (first & kTagged) != 0;
  Fields fields(segment);
  fields.text = tagged ? "tagged: " : "untagged: ";
  Control control;
  if (fields.has(kControlAt + 1)) {
    control = decode_control(std::to_integer<std::uint8_t>(segment[kControlAt]));
    fields.text += opcode_text(control) + ", ";
  }
  fields.text += (first & kLast) != 0 ? "L 1" : "L 0";
  if (const unsigned version = first & kVersionMask; version != ddp::kVersion) {
    fields.text += ", DDP version " + std::to_string(version);
  }
  if (tagged) {
    fields.add_hex<std::uint32_t>("STag", kTaggedStagAt);
    fields.add_hex<std::uint64_t>("TO", kTaggedOffsetAt);
  } else {
    fields.add_number("QN", kQueueNumberAt);
    fields.add_number("MSN", kMsnAt);
    fields.add_number("MO", kMessageOffsetAt);
    const OpcodeTraits* known = traits(control.opcode);
    if (known != nullptr && known->invalidates) {
      fields.add_hex<std::uint32_t>("Invalidate STag", kInvalidateStagAt);
    }
  }
  if (segment.size() < ddp::claimed_header_size(segment)) {
    fields.text += ", cut after " + std::to_string(segment.size()) + " octets";
  }
  return fields.text;
}

std::string describe(const ReadRequest& request) {
  return "Read Request: Sink STag " + hex(request.sink_stag.value()) + ", Sink TO " +
         hex(request.sink_to.value()) + ", RDMARDSZ " + std::to_string(request.size) +
         ", Source STag " + hex(request.source_stag.value()) + ", Source TO " +
         hex(request.source_to.value());
}

std::string describe_headers(const Terminate& message) {
  std::string text;
  const auto add = [&text](const std::string& more) {
    if (!text.empty()) text += "; ";
    text += more;
  };
  if (message.segment_length) {
    add("DDP Segment of " + std::to_string(*message.segment_length) + " octets");
  }
  if (message.ddp_header_size != 0) {
    add(describe_header(ConstBytes(message.ddp_header).first(message.ddp_header_size)));
  }
  if (message.read_request) add(describe(*message.read_request));
  return text;
}

}  // namespace iwarp::rdmap
