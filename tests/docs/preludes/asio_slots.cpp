// As asio.cpp, for fragments that need cancellation slots, which Boost has from 1.77 on: with an
// older one only this file is compiled.
#include "asio.hpp"

#ifdef IWARP_ASIO_HAS_CANCELLATION
#include <boost/asio/experimental/awaitable_operators.hpp>
#endif

namespace {

awaitable<void> program::fragment() {
#ifdef IWARP_ASIO_HAS_CANCELLATION
  // FRAGMENT
#endif
  co_return;
}

}  // namespace
