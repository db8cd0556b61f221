#include "mpa/naive_framer.hpp"

namespace iwarp::mpa::test {

std::uint32_t bitwise_crc32c(ConstBytes bytes) {
  constexpr std::uint32_t kReflectedPolynomial = 0x82F63B78U;
  std::uint32_t crc = 0xFFFFFFFFU;
  for (std::byte octet : bytes) {
    crc ^= std::to_integer<std::uint32_t>(octet);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1U) != 0 ? (crc >> 1U) ^ kReflectedPolynomial : crc >> 1U;
    }
  }
  return ~crc;
}

void NaiveFramer::frame(ConstBytes ulpdu) {
  fpdu_begin_ = stream_.size();
  between_fpdus_ = true;
  put_marker_if_due();
  length_at_ = stream_.size();
  between_fpdus_ = false;
  put(static_cast<std::byte>(ulpdu.size() >> 8U));
  put(static_cast<std::byte>(ulpdu.size() & 0xFFU));
  for (std::byte octet : ulpdu) put(octet);
  for (std::size_t length = 2 + ulpdu.size(); length % 4 != 0; ++length) put(pad_octet);
  put_marker_if_due();
  std::uint32_t field = unchecked_crc;
  if (crc_ == Crc::kOn) field = bitwise_crc32c(ConstBytes(stream_).subspan(fpdu_begin_));
  for (unsigned shift = 0; shift < 32; shift += 8) {
    put(static_cast<std::byte>((field >> shift) & 0xFFU));
  }
}

void NaiveFramer::put(std::byte octet) {
  put_marker_if_due();
  stream_.push_back(octet);
}

void NaiveFramer::put_marker_if_due() {
  if (markers_ == Markers::kOff || stream_.size() % 512 != 0) return;
  const std::size_t distance = between_fpdus_ ? 0 : stream_.size() - length_at_;
  const std::size_t pointer = distance ^ fpduptr_flip;
  for (std::size_t field : {std::size_t{marker_reserved}, pointer}) {
    stream_.push_back(static_cast<std::byte>((field >> 8U) & 0xFFU));
    stream_.push_back(static_cast<std::byte>(field & 0xFFU));
  }
}

}  // namespace iwarp::mpa::test
