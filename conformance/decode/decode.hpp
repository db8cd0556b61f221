#pragma once

#include "decode/field.hpp"
#include "harness/transcript.hpp"

namespace iwarp::conform {

/// An event for the reader.
struct Decoded {
  std::string summary;        ///< On one line; for events that are a text, the text.
  std::vector<Field> fields;  ///< Of Event::octets; empty if it has none.
};

/// Never fails: octets that mean nothing are shown as octets. Start-up frames and FPDUs are told
/// field by field, octets of the socket are one field.
Decoded decode(const Event& event);

/// "note", "startup-sent", …: for reports that programs read.
std::string_view name_of(Event::Kind kind);

}  // namespace iwarp::conform
