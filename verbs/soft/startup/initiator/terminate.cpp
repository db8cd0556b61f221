#include "soft/startup/initiator/terminate.hpp"

#include <array>

#include "iwarp/base/gather_list.hpp"
#include "iwarp/ddp/header.hpp"
#include "iwarp/mpa/framer.hpp"
#include "iwarp/rdmap/control.hpp"
#include "iwarp/rdmap/terminate.hpp"

namespace iwarp::verbs::soft {
namespace {

using TerminateHeader = std::array<std::byte, ddp::kUntaggedHeaderSize>;

TerminateHeader first_terminate_header() {
  ddp::UntaggedHeader header;
  header.last = ddp::Last::kYes;
  header.rsvd_ulp = rdmap::encode_control(rdmap::Opcode::kTerminate);
  header.qn = rdmap::kTerminateQueueNumber;
  header.msn = Msn{1};
  TerminateHeader encoded;
  header.encode(encoded.data());
  return encoded;
}

}  // namespace

std::vector<std::byte> terminate_fpdu(const mpa::TerminateOrder& order) {
  rdmap::Terminate message;
  message.cause = rdmap::cause_of_llp(order.code);
  std::array<std::byte, rdmap::Terminate::kMaxSize> encoded;
  const ConstBytes payload(encoded.data(), message.encode(encoded.data()));
  const TerminateHeader header = first_terminate_header();

  const std::size_t length = header.size() + payload.size();
  const mpa::Markers markers = order.modes.markers_tx;
  GatherList list(mpa::Framer::arena_needed(length, length, markers),
                  mpa::Framer::pieces_needed(1, length, markers));
  mpa::Framer framer(order.modes.crc, markers);
  framer.frame(header, {&payload, 1}, mpa::PayloadUse::kCopy, list);

  std::vector<std::byte> fpdu(list.size());
  list.extract(0, fpdu);
  return fpdu;
}

}  // namespace iwarp::verbs::soft
