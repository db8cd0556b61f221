#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iwarp/base/bytes.hpp"

/// Why a server of this program does not let a client in. It says so in the private data of the MPA
/// Reply that rejects the client (RFC 5044 §7.1.1), so that no person has to look into its log.
namespace iwarp::cli {

/// The servers of this program, by the number that all they say at the start-up begins with.
enum class Service : std::uint32_t {
  kFiles = 0x49574653,  ///< "IWFS", iwarp serve
  kPerf = 0x49575046,   ///< "IWPF", iwarp perf server
};
/// The command that runs it.
const char* command_of(Service service);

/// What a server says to a client that it does not let in. The form is the same for ever, in all
/// versions of both protocols: a client reads the Rejection of a server that is older or younger
/// than itself.
///
///     octets   0 to 3   the service's number
///                   4   the version of its protocol that the server speaks
///                   5   a code of the service's own, for programs
///              6 to 7   octets of the text
///          8 and more   the text for people, in UTF-8: a clause, as "the server has no room"
///
/// What is behind the text is ignored. All integers are in network byte order.
struct Rejection {
  Service service = Service::kFiles;
  std::uint8_t version = 0;
  std::uint8_t code = 0;
  std::string text;

  /// At most `most` octets, for which the text is cut: DeviceAttributes::max_private_data.
  /// Precondition: most >= 12.
  [[nodiscard]] std::vector<std::byte> encode(std::size_t most) const;
  /// Nothing for what no server of this program has said, or what is cut off. In the text all that
  /// could steer a terminal is replaced, and all that is not UTF-8.
  static std::optional<Rejection> parse(ConstBytes private_data);
};

/// The most octets of `text` up to `most` that end with a whole character.
std::string_view cut(std::string_view text, std::size_t most);

/// What a person is told whose client was rejected: what was `asked` ("connecting to HOST:PORT"),
/// which server refused, and why. `expected` is the service that the client belongs to, and
/// `words_for` knows what its codes mean, nullptr if not: it is asked when there is no text.
/// Private data that is no Rejection is told as a rejection without a reason.
std::string describe_rejection(const std::string& asked, ConstBytes private_data, Service expected,
                               const char* (*words_for)(std::uint8_t code));

/// The same of a refusal that was understood.
std::string describe_refusal(const std::string& asked, Service by, const std::string& why);

}  // namespace iwarp::cli
