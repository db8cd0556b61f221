#include "iwarp/mpa/negotiation.hpp"

#include <algorithm>

namespace iwarp::mpa {

ReadDepth stated(std::uint16_t depth, DepthStatement statement) {
  return statement == DepthStatement::kStated ? ReadDepth(depth) : ReadDepth::not_stated();
}

Result<Depths, Error> settle_initiator(const DepthOptions& own, const EnhancedData& reply) {
  Depths depths{own.ird, own.ord};
  if (reply.ird.is_stated()) depths.ord = std::min(own.ord, reply.ird.value());
  if (reply.ord.is_stated()) {
    if (reply.ord.value() > own.ird_limit) return failure(Error::kInsufficientIrd);
    depths.ird = std::max(own.ird, reply.ord.value());
  }
  return depths;
}

Depths settle_responder(const DepthOptions& own, const EnhancedData& request, RtrSet answer) {
  Depths depths{own.ird, own.ord};
  if (request.ird.is_stated()) depths.ord = std::min(own.ord, request.ird.value());
  if (request.ord.is_stated() && own.ird_statement == DepthStatement::kStated) {
    depths.ird = std::max(own.ird, std::min(request.ord.value(), own.ird_limit));
  }
  if (answer.contains(Rtr::kRead)) depths.ird = std::max<std::uint16_t>(depths.ird, 1);
  return depths;
}

RtrSet answer_rtr(RtrSet own, RtrSet asked) {
  const RtrSet both = own & asked;
  return both.empty() ? own : both;
}

Rtr choose_rtr(RtrSet own, RtrSet offered) {
  const RtrSet both = own & offered;
  for (Rtr kind : {Rtr::kWrite, Rtr::kRead, Rtr::kSend}) {
    if (both.contains(kind)) return kind;
  }
  return Rtr::kNone;
}

}  // namespace iwarp::mpa
