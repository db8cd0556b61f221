#include "iwarp/tcp_offload/error.hpp"

#include <string>

namespace iwarp::tcp_offload {
namespace {

class Category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "iwarp.tcp_offload"; }

  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<Error>(value)) {
      case Error::kEndOfStream: return "the peer ended the stream";
      case Error::kBadCrc: return "the device has received an FPDU with a wrong CRC";
      case Error::kBadMarker: return "the device has received a marker that points elsewhere";
    }
    return "unknown error";
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

}  // namespace iwarp::tcp_offload
