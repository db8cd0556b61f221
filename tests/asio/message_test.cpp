#include <deque>

#include "fixture.hpp"

namespace iwarp::asio::test {
namespace {

using AsioMessages = AsioTest;

TEST_F(AsioMessages, ReachTheOtherEndByCallbacks) {
  connect_pair();
  told<> sent;
  told<message> got;
  client.async_send(text("hello"), sent.handler());
  server.async_receive(got.handler());
  ASSERT_TRUE(run_until([&] { return sent.times == 1 && got.times == 1; }));
  EXPECT_FALSE(sent.error);
  EXPECT_FALSE(got.error);
  EXPECT_EQ(text(got.result), "hello");
  EXPECT_FALSE(got.result.immediate());
}

TEST_F(AsioMessages, WaitForAReceiveThatComesLaterInTheirOrder) {
  connect_pair();
  told<> sent;
  for (const char* words : {"one", "two", "three"}) client.async_send(text(words), sent.handler());
  ASSERT_TRUE(run_until([&] { return sent.times == 3; }));
  for (const char* words : {"one", "two", "three"}) {
    told<message> got;
    server.async_receive(got.handler());
    ASSERT_TRUE(run_until([&] { return got.times == 1; }));
    EXPECT_EQ(text(got.result), words);
  }
}

// More than the device has inline, as an adapter with little of it: from places of the connection.
class AsioCopies : public AsioTest {
 protected:
  static constexpr std::uint32_t kSize = 6000, kSends = 2;
  AsioCopies()
      : AsioTest({.max_sends = kSends, .max_inline = kSize},
                 {.message_count = 8, .message_size = kSize}) {}
};

TEST_F(AsioCopies, AreMadeBeforeTheCallReturns) {
  ASSERT_LT(on.attributes().max_inline, kSize);
  connect_pair();
  std::vector<std::string> sent;
  std::deque<told<>> ends;
  for (char letter = 'a'; letter != 'h'; ++letter) {  // more than are posted at a time
    std::string octets(kSize, letter);
    client.async_send(net::buffer(octets), ends.emplace_back().handler());
    sent.push_back(octets);
    octets.assign(kSize, '-');
  }
  for (const std::string& octets : sent) {
    told<message> got;
    server.async_receive(got.handler());
    ASSERT_TRUE(run_until([&] { return got.times == 1; }));
    ASSERT_FALSE(got.error) << got.error.message();
    EXPECT_EQ(text(got.result), octets);
  }
  ASSERT_TRUE(run_until([&] { return ends.back().times == 1; }));
  for (const auto& end : ends) EXPECT_FALSE(end.error);
}

TEST_F(AsioCopies, OfOneOctetMoreAreRefused) {
  connect_pair();
  const std::string octets(kSize + 1, 'x');
  told<> end;
  client.async_send(net::buffer(octets), end.handler());
  ASSERT_TRUE(run_until([&] { return end.times == 1; }));
  EXPECT_EQ(end.error, errc::not_registered);
}

TEST_F(AsioMessages, AreEmptyWhenMovedFrom) {
  connect_pair();
  told<message> first, second;
  for (auto* got : {&first, &second}) {
    client.async_send(text("x"), net::detached);
    server.async_receive(got->handler());
    ASSERT_TRUE(run_until([&] { return got->times == 1; }));
  }
  first.result = std::move(second.result);
  EXPECT_TRUE(first.result);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what this is about
  EXPECT_FALSE(second.result);
}

TEST_F(AsioMessages, GiveTheirBufferBackWhenTheyEnd) {
  connect_pair();
  for (int i = 0; i < 100; ++i) {  // more than there are buffers
    told<message> got;
    client.async_send(text("again"), net::detached);
    server.async_receive(got.handler());
    ASSERT_TRUE(run_until([&] { return got.times == 1; }));
    ASSERT_FALSE(got.error) << got.error.message();
  }
}

// get() of another would wait for ever: nothing runs meanwhile.
template <typename T>
bool is_ready(const std::future<T>& future) {
  return future.wait_for(0s) == std::future_status::ready;
}

TEST_F(AsioMessages, WorkWithFutures) {
  connect_pair();
  auto sent = client.async_send(text("hello"), net::use_future);
  auto got = server.async_receive(net::use_future);
  ASSERT_TRUE(run_until([&] { return is_ready(sent) && is_ready(got); }));
  EXPECT_EQ(text(got.get()), "hello");
  EXPECT_NO_THROW(sent.get());
}

net::awaitable<void> echo(connection& server) {
  for (;;) {
    const message got = co_await server.async_receive(net::use_awaitable);
    co_await server.async_send(got.buffer(), net::use_awaitable);
  }
}

net::awaitable<std::string> ask(connection& client, std::string_view words) {
  co_await client.async_send(text(words), net::use_awaitable);
  const message answer = co_await client.async_receive(net::use_awaitable);
  co_await client.async_shutdown(net::use_awaitable);
  co_return text(answer);
}

TEST_F(AsioMessages, WorkWithCoroutines) {
  connect_pair();
  std::exception_ptr end_of_echo;
  auto answer = net::co_spawn(io, ask(client, "who is there?"), net::use_future);
  net::co_spawn(io, echo(server), [&](std::exception_ptr thrown) { end_of_echo = thrown; });
  // The server may see the end of the stream before the client's shutdown is over.
  ASSERT_TRUE(run_until([&] { return end_of_echo != nullptr && is_ready(answer); }));
  EXPECT_EQ(answer.get(), "who is there?");
  try {
    std::rethrow_exception(end_of_echo);
  } catch (const boost::system::system_error& error) {
    EXPECT_EQ(error.code(), net::error::eof);
  }
}

TEST_F(AsioMessages, OfNoOctetsAreMessagesToo) {
  connect_pair();
  told<message> got;
  client.async_send(buffer_list(), net::detached);
  server.async_receive(got.handler());
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_FALSE(got.error);
  EXPECT_EQ(got.result.size(), 0U);
}

TEST_F(AsioMessages, CarryImmediateDataInstead) {
  connect_pair();
  told<message> got;
  client.async_send_immediate(0x0102030405060708U, net::detached);
  server.async_receive(got.handler());
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(got.result.immediate(), 0x0102030405060708U);
  EXPECT_EQ(got.result.size(), 0U);
}

TEST_F(AsioMessages, AreGatheredFromSeveralBuffers) {
  connect_pair();
  registered_buffer memory(client_domain, 64);
  std::memcpy(memory.data(), "left middle right", 17);
  told<message> got;
  client.async_send({memory.part(12, 5), memory.part(4, 8), memory.part(0, 4)}, net::detached);
  server.async_receive(got.handler());
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(text(got.result),
            "right"
            " middle "
            "left");
}

TEST_F(AsioMessages, CanBeMoreAtOnceThanTheQueueHolds) {
  connect_pair();
  constexpr int kCount = 1000;  // the queue has 128
  std::vector<std::string> bodies;
  for (int i = 0; i < kCount; ++i) bodies.push_back("message " + std::to_string(i));
  int sent = 0, taken = 0;
  std::function<void()> take = [&] {
    server.async_receive([&](error_code error, const message& got) {
      ASSERT_FALSE(error) << error.message();
      EXPECT_EQ(text(got), bodies[static_cast<std::size_t>(taken)]);
      ++taken;
      if (taken < kCount) take();
    });
  };
  take();
  // The server's pool has 16 buffers: send in that measure.
  std::function<void(int)> send = [&](int number) {
    client.async_send(net::buffer(bodies[static_cast<std::size_t>(number)]), [&](error_code error) {
      ASSERT_FALSE(error);
      ++sent;
    });
  };
  for (int i = 0; i < kCount; ++i) {
    ASSERT_TRUE(run_until([&] { return taken + 8 > i; }));
    send(i);
  }
  ASSERT_TRUE(run_until([&] { return taken == kCount; }));
  EXPECT_EQ(sent, kCount);
}

class AsioOwnBuffers : public PlainTest {};

TEST_F(AsioOwnBuffers, ReceiveIntoWhatWasStartedBeforeTheConnection) {
  registered_buffer memory(server_domain, 64);
  told<received> got;
  server.async_receive_into(memory, got.handler());
  connect_pair();
  client.async_send(text("early"), net::detached);
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(got.result.size, 5U);
  EXPECT_EQ(std::memcmp(memory.data(), "early", 5), 0);
}

TEST_F(AsioOwnBuffers, QueueMoreRequestsThanTheDeviceTakes) {
  registered_buffer memory(server_domain, 4096);
  constexpr int kCount = 300;  // each queue has 128
  int got = 0, sent = 0;
  for (int i = 0; i < kCount; ++i) {
    server.async_receive_into(memory.part(static_cast<std::size_t>(i) * 8, 8),
                              [&, i](error_code error, received what) {
                                ASSERT_FALSE(error) << error.message();
                                EXPECT_EQ(what.size, 3U);
                                EXPECT_EQ(i, got++);
                              });
  }
  connect_pair();
  // Receives that wait in the layer move up only when others end, so not all at once.
  for (int i = 0; i < kCount; ++i) {
    ASSERT_TRUE(run_until([&] { return got + 100 > i; }));
    const std::string body = "n" + std::to_string(i % 90 + 10);
    client.async_send(net::buffer(body), [&](error_code error) {
      ASSERT_FALSE(error) << error.message();
      ++sent;
    });
  }
  ASSERT_TRUE(run_until([&] { return got == kCount && sent == kCount; }));
}

TEST_F(AsioOwnBuffers, SendWithInvalidateEndsTheWindow) {
  registered_buffer memory(client_domain, 4096,
                           access_rights::kLocalWrite | access_rights::kWindowBind);
  memory_window window(client_domain);
  registered_buffer notes(client_domain, 64);
  told<remote_buffer> bound;
  told<received> got;
  connect_pair();
  client.async_receive_into(notes, got.handler());
  client.async_bind(window, memory, 16, 32, access_rights::kRemoteWrite, bound.handler());
  ASSERT_TRUE(run_until([&] { return bound.times == 1; }));
  ASSERT_FALSE(bound.error) << bound.error.message();
  EXPECT_EQ(bound.result.length, 32U);

  told<> written, sent;
  server.async_write(text("through the window"), bound.result, written.handler());
  server.async_send_invalidate(buffer_list(), bound.result.stag, sent.handler());
  ASSERT_TRUE(run_until([&] { return got.times == 1 && sent.times == 1; }));
  EXPECT_FALSE(got.error) << got.error.message();
  EXPECT_EQ(got.result.invalidated, bound.result.stag);
  EXPECT_EQ(std::memcmp(memory.data() + 16, "through the window", 18), 0);
  const remote_buffer first = bound.result;

  // Bound again it has another STag.
  client.async_bind(window, memory, 0, 16, access_rights::kRemoteWrite, bound.handler());
  ASSERT_TRUE(run_until([&] { return bound.times == 2; }));
  ASSERT_FALSE(bound.error) << bound.error.message();
  EXPECT_NE(bound.result.stag, first.stag);
  told<> closed;
  client.async_invalidate(bound.result.stag, closed.handler());
  ASSERT_TRUE(run_until([&] { return closed.times == 1; }));
  EXPECT_FALSE(closed.error) << closed.error.message();
}

}  // namespace
}  // namespace iwarp::asio::test
