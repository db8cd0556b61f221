#include "iwarp/mpa/enhanced_data.hpp"

namespace iwarp::mpa {
namespace {

// RFC 6581 §9: two words, each with two flags above 14 bits of depth.
constexpr std::size_t kIrdWord = 0;
constexpr std::size_t kOrdWord = 2;
constexpr unsigned kFlagA = 0x8000;  // in the IRD word: peer-to-peer
constexpr unsigned kFlagB = 0x4000;  // in the IRD word: Send RTR
constexpr unsigned kFlagC = 0x8000;  // in the ORD word: Write RTR
constexpr unsigned kFlagD = 0x4000;  // in the ORD word: Read RTR

unsigned flag_if(RtrSet set, Rtr kind, unsigned flag) { return set.contains(kind) ? flag : 0; }

}  // namespace

EnhancedData EnhancedData::parse(std::span<const std::byte, kEnhancedDataSize> bytes) {
  const auto ird_word = load_be<std::uint16_t>(bytes.data() + kIrdWord);
  const auto ord_word = load_be<std::uint16_t>(bytes.data() + kOrdWord);
  EnhancedData data;
  data.ird = ReadDepth::from_wire(ird_word);
  data.ord = ReadDepth::from_wire(ord_word);
  if ((ird_word & kFlagA) == 0) return data;
  data.model = ConnectionModel::kPeerToPeer;
  if ((ird_word & kFlagB) != 0) data.rtr.insert(Rtr::kSend);
  if ((ord_word & kFlagC) != 0) data.rtr.insert(Rtr::kWrite);
  if ((ord_word & kFlagD) != 0) data.rtr.insert(Rtr::kRead);
  return data;
}

std::array<std::byte, kEnhancedDataSize> EnhancedData::encode() const {
  unsigned ird_word = ird.to_wire();
  unsigned ord_word = ord.to_wire();
  if (model == ConnectionModel::kPeerToPeer) {
    ird_word |= kFlagA | flag_if(rtr, Rtr::kSend, kFlagB);
    ord_word |= flag_if(rtr, Rtr::kWrite, kFlagC) | flag_if(rtr, Rtr::kRead, kFlagD);
  }
  std::array<std::byte, kEnhancedDataSize> bytes;
  store_be(bytes.data() + kIrdWord, static_cast<std::uint16_t>(ird_word));
  store_be(bytes.data() + kOrdWord, static_cast<std::uint16_t>(ord_word));
  return bytes;
}

}  // namespace iwarp::mpa
