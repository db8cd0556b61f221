#include "iwarp/verbs/origin.hpp"

#include "iwarp/process/forks.hpp"

namespace iwarp::verbs {

Origin::Origin() : made_in_(process::forks()) {}

bool Origin::inherited() const { return made_in_ != process::forks(); }

bool Origin::refuses() const {
  if (!inherited()) return false;
  process::tell_why_calls_fail();
  return true;
}

void keep_inherited(void* object) { process::keep_inherited(object); }

}  // namespace iwarp::verbs
