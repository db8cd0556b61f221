#include "start_up/rejection.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>

#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

constexpr std::size_t kServiceAt = 0;
constexpr std::size_t kSpokenVersionAt = 4;
constexpr std::size_t kCodeAt = 5;
constexpr std::size_t kTextLengthAt = 6;
constexpr std::size_t kTextAt = 8;
// Clients of files that are older than this form read no fewer octets.
constexpr std::size_t kLeastOctets = 12;

bool is_known(Service service) { return service == Service::kFiles || service == Service::kPerf; }

bool continues_a_character(char octet) {
  return (static_cast<unsigned char>(octet) & 0xC0U) == 0x80U;
}

}  // namespace

const char* command_of(Service service) {
  return service == Service::kPerf ? "iwarp perf server" : "iwarp serve";
}

std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && continues_a_character(text[most])) --most;
  return text.substr(0, most);
}

std::vector<std::byte> Rejection::encode(std::size_t most) const {
  const std::string_view said = cut(text, most - kTextAt);
  std::vector<std::byte> bytes(std::max(kTextAt + said.size(), kLeastOctets));
  store_be(bytes.data() + kServiceAt, static_cast<std::uint32_t>(service));
  store_be(bytes.data() + kSpokenVersionAt, version);
  store_be(bytes.data() + kCodeAt, code);
  store_be(bytes.data() + kTextLengthAt, static_cast<std::uint16_t>(said.size()));
  if (!said.empty()) std::memcpy(bytes.data() + kTextAt, said.data(), said.size());
  return bytes;
}

std::optional<Rejection> Rejection::parse(ConstBytes private_data) {
  if (private_data.size() < kTextAt) return std::nullopt;
  const std::byte* const at = private_data.data();
  Rejection rejection;
  rejection.service = static_cast<Service>(load_be<std::uint32_t>(at + kServiceAt));
  rejection.version = load_be<std::uint8_t>(at + kSpokenVersionAt);
  rejection.code = load_be<std::uint8_t>(at + kCodeAt);
  const std::size_t length = load_be<std::uint16_t>(at + kTextLengthAt);
  if (!is_known(rejection.service) || length > private_data.size() - kTextAt) return std::nullopt;
  rejection.text = printable({reinterpret_cast<const char*>(at + kTextAt), length});
  return rejection;
}

std::string describe_refusal(const std::string& asked, Service by, const std::string& why) {
  return fmt::format("{}: '{}' refused: {}", asked, command_of(by), why);
}

std::string describe_rejection(const std::string& asked, ConstBytes private_data, Service expected,
                               const char* (*words_for)(std::uint8_t code)) {
  const auto rejection = Rejection::parse(private_data);
  if (!rejection) {
    return fmt::format(
        "{}: the peer refused without a reason that this program understands; it may be something "
        "else than '{}'",
        asked, command_of(expected));
  }
  if (rejection->service != expected) {
    return fmt::format("{}: refused, since '{}' listens there instead of '{}'", asked,
                       command_of(rejection->service), command_of(expected));
  }
  if (!rejection->text.empty()) return describe_refusal(asked, expected, rejection->text);
  if (const char* const words = words_for(rejection->code)) {
    return describe_refusal(asked, expected, words);
  }
  return describe_refusal(asked, expected,
                          fmt::format("its reason has the number {}, which this version does not "
                                      "know, and no words",
                                      rejection->code));
}

}  // namespace iwarp::cli
