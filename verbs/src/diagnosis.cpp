#include "iwarp/verbs/diagnosis.hpp"

#include <array>
#include <cstdio>

namespace iwarp::verbs {
namespace {

std::string numbers_of(const TerminateInfo& cause) {
  std::array<char, 40> text;
  const int size = std::snprintf(text.data(), text.size(), ", Terminate %u/%u/0x%02x",
                                 unsigned{cause.layer}, unsigned{cause.type}, unsigned{cause.code});
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace

const char* to_string(EndedBy by) {
  switch (by) {
    case EndedBy::kNobody: return "nobody";
    case EndedBy::kProgram: return "this side's program";
    case EndedBy::kStack: return "this side's stack";
    case EndedBy::kPeerTerminate: return "the peer's Terminate";
    case EndedBy::kPeerReject: return "the peer's rejection";
    case EndedBy::kPeerFin: return "the peer's FIN";
    case EndedBy::kNetwork: return "the network or a time-out";
  }
  return "unknown";
}

const char* to_string(EndLayer layer) {
  switch (layer) {
    case EndLayer::kNone: return "none";
    case EndLayer::kTcp: return "TCP";
    case EndLayer::kMpa: return "MPA";
    case EndLayer::kDdp: return "DDP";
    case EndLayer::kRdmap: return "RDMAP";
  }
  return "unknown";
}

std::string Diagnosis::to_string() const {
  if (by == EndedBy::kNobody) return "nothing has ended it";
  std::string text = sentence + " [ended by " + verbs::to_string(by);
  if (layer != EndLayer::kNone) text += std::string(", layer ") + verbs::to_string(layer);
  if (cause) text += numbers_of(*cause);
  text += "]";
  if (!header.empty()) text += "; " + header;
  return text;
}

}  // namespace iwarp::verbs
