#pragma once

namespace iwarp::test {

/// While one of these lives, sendmsg(2) of this program fails with `error`, for whatever socket.
/// The program is compiled with failing_sends.cpp. One at a time.
class FailingSends {
 public:
  explicit FailingSends(int error);
  ~FailingSends();
  FailingSends(const FailingSends&) = delete;
  FailingSends& operator=(const FailingSends&) = delete;

  /// How many calls have failed so far. Any thread.
  [[nodiscard]] static int count();
};

}  // namespace iwarp::test
