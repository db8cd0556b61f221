#pragma once

#include <chrono>
#include <thread>

namespace iwarp::test {

/// Does `once` again and again for some time, at least one time: a race gets many chances on an
/// idle machine, and the test ends soon on a busy one.
template <typename Once>
void repeat_for(std::chrono::milliseconds time, Once once) {
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    once();
  } while (std::chrono::steady_clock::now() < end);
}

/// What a thread does that waits for another: on a busy machine sleepers get their turn sooner than
/// those who keep asking. Orders no memory accesses.
inline void pause_a_little() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

}  // namespace iwarp::test
