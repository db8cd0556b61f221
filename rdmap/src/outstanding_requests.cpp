#include "iwarp/rdmap/outstanding_requests.hpp"

namespace iwarp::rdmap {

OutstandingRequests::OutstandingRequests(std::uint32_t ord, std::uint32_t secret)
    : ord_(ord), secret_(secret), ring_(ord) {}

Stag OutstandingRequests::sink_stag(std::uint32_t position) const {
  return Stag{(position * 0x9E3779B1U) ^ secret_};
}

void OutstandingRequests::issue(std::uint32_t position, Owed owed, std::uint32_t length,
                                std::span<const ddp::Sge> sink) {
  if (position != issued_.own()) return;  // planned anew
  ring_[position] = {owed, sink_stag(position), length, sink};
  issued_.advance();
}

const OutstandingRequest* OutstandingRequests::due() const {
  const std::uint32_t position = finished_.own();
  return position == issued_.seen() ? nullptr : &ring_[position];
}

}  // namespace iwarp::rdmap
