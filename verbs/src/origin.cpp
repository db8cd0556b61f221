#include "iwarp/verbs/origin.hpp"

#include "iwarp/tcp_offload/process.hpp"

namespace iwarp::verbs {

Origin::Origin() : made_in_(tcp_offload::forks()) {}

bool Origin::inherited() const { return made_in_ != tcp_offload::forks(); }

bool Origin::refuses() const {
  if (!inherited()) return false;
  tcp_offload::tell_why_calls_fail();
  return true;
}

void keep_inherited(void* object) { tcp_offload::keep_inherited(object); }

}  // namespace iwarp::verbs
