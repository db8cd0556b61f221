#include <poll.h>

#include "rsocket/loopback.hpp"
#include "support/interrupted_call.hpp"

// What a signal does to rsocket calls that wait: what it does to those of a socket (signal(7)).
namespace iwarp::rsocket_test {
namespace {

using test::InterruptedCall;
using test::SignalHandler;

int receive_one(int socket) {
  char octet = 0;
  return static_cast<int>(rrecv(socket, &octet, 1, 0));
}

int poll_for_input(int socket) {
  pollfd entry{socket, POLLIN, 0};
  return rpoll(&entry, 1, -1);
}

TEST(Signals, WithARestartingHandlerLetReceiveGoOn) {
  const SignalHandler handler(SA_RESTART);
  Pair pair;
  InterruptedCall call([&] { return receive_one(pair.server); });
  for (int i = 0; i < 3; ++i) call.signal();
  EXPECT_FALSE(call.over());
  send_all(pair.client, {'x'});
  EXPECT_EQ(call.result(), 1);
}

TEST(Signals, WithARestartingHandlerLetAcceptGoOn) {
  const SignalHandler handler(SA_RESTART);
  Listener listener;
  InterruptedCall call([&] { return raccept(listener.socket(), nullptr, nullptr); });
  for (int i = 0; i < 3; ++i) call.signal();
  EXPECT_FALSE(call.over());
  const Owned client = listener.connect();
  const Owned server(call.result());
  EXPECT_GE(server, 0);
}

TEST(Signals, WithAnotherHandlerEndReceive) {
  const SignalHandler handler(0);
  Pair pair;
  InterruptedCall call([&] { return receive_one(pair.server); });
  call.signal_until_over();
  EXPECT_EQ(call.result(), -1);
  EXPECT_EQ(call.error(), EINTR);
  send_all(pair.client, {'x'});
  EXPECT_EQ(receive_one(pair.server), 1) << "nothing is lost with the call";
}

TEST(Signals, EndPollWithAnyHandler) {
  for (const int flags : {0, SA_RESTART}) {
    const SignalHandler handler(flags);
    Pair pair;
    InterruptedCall call([&] { return poll_for_input(pair.server); });
    call.signal_until_over();
    EXPECT_EQ(call.result(), -1);
    EXPECT_EQ(call.error(), EINTR);
  }
}

}  // namespace
}  // namespace iwarp::rsocket_test
