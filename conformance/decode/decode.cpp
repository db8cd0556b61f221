#include "decode/decode.hpp"

#include <algorithm>

#include "decode/layers.hpp"

namespace iwarp::conform {
namespace {

// "CRC, DV": the innermost fields that are not as the RFCs have them, each name once.
std::string irregularities(const std::vector<Field>& fields) {
  std::vector<std::string_view> names;
  for (const Field& field : fields) {
    if (field.irregular && std::find(names.begin(), names.end(), field.name) == names.end()) {
      names.push_back(field.name);
    }
  }
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

Decoded with_irregularities(std::string summary, std::vector<Field> fields) {
  const std::string irregular = irregularities(fields);
  if (!irregular.empty()) summary += "; irregular: " + irregular;
  return {.summary = std::move(summary), .fields = std::move(fields)};
}

Decoded decode_octets(const Event& event, const std::string& verb) {
  Cursor cursor(event.octets);
  cursor.octets(Part::kUnknown, cursor.left(), "octets");
  return {.summary = count_of(event.octets.size()) + verb, .fields = cursor.take_fields()};
}

}  // namespace

Decoded decode(const Event& event) {
  using Kind = Event::Kind;
  switch (event.kind) {
    case Kind::kStartupSent:
    case Kind::kStartupReceived: {
      Cursor cursor(event.octets);
      std::string summary = decode_startup(cursor);
      return with_irregularities(std::move(summary), cursor.take_fields());
    }
    case Kind::kFpduSent:
    case Kind::kFpduReceived: {
      DecodedFpdu fpdu = decode_fpdu(event.octets, event.framing, event.position);
      return with_irregularities(std::move(fpdu.summary), std::move(fpdu.fields));
    }
    case Kind::kRawSent: return decode_octets(event, " given to the socket");
    case Kind::kRawReceived: return decode_octets(event, " read from the socket");
    case Kind::kConnected: return {.summary = "a TCP connection", .fields = {}};
    case Kind::kFinSent: return {.summary = "FIN: the tester sends no more", .fields = {}};
    case Kind::kFinReceived: return {.summary = "FIN: the target sends no more", .fields = {}};
    case Kind::kResetSent:
      return {.summary = "RST: the tester resets the connection", .fields = {}};
    case Kind::kResetReceived:
      return {.summary = "RST: the target resets the connection", .fields = {}};
    case Kind::kNote:
    case Kind::kAgentCommand:
    case Kind::kAgentReply:
    case Kind::kExpectation:
    case Kind::kFailure: break;
  }
  return {.summary = event.text, .fields = {}};
}

std::string_view name_of(Event::Kind kind) {
  using Kind = Event::Kind;
  switch (kind) {
    case Kind::kNote: return "note";
    case Kind::kAgentCommand: return "agent-command";
    case Kind::kAgentReply: return "agent-reply";
    case Kind::kConnected: return "connected";
    case Kind::kRawSent: return "raw-sent";
    case Kind::kRawReceived: return "raw-received";
    case Kind::kStartupSent: return "startup-sent";
    case Kind::kStartupReceived: return "startup-received";
    case Kind::kFpduSent: return "fpdu-sent";
    case Kind::kFpduReceived: return "fpdu-received";
    case Kind::kFinSent: return "fin-sent";
    case Kind::kFinReceived: return "fin-received";
    case Kind::kResetSent: return "reset-sent";
    case Kind::kResetReceived: return "reset-received";
    case Kind::kExpectation: return "expectation";
    case Kind::kFailure: return "failure";
  }
  return "note";
}

}  // namespace iwarp::conform
