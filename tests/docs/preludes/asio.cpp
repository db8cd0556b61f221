// A fragment in a document stands in a coroutine.
#include "asio.hpp"

namespace {

awaitable<void> program::fragment() {
  // FRAGMENT
  co_return;
}

}  // namespace
