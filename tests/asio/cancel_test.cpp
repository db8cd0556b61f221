#include "fixture.hpp"

#ifdef IWARP_ASIO_HAS_CANCELLATION
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#endif

namespace iwarp::asio::test {
namespace {

using net::error::operation_aborted;
using AsioCancel = AsioTest;

TEST_F(AsioCancel, EndsWhatWaitsAndLeavesTheConnection) {
  connect_pair();
  told<message> waiting;
  server.async_receive(waiting.handler());
  io.poll();
  server.cancel();
  ASSERT_TRUE(run_until([&] { return waiting.times == 1; }));
  EXPECT_EQ(waiting.error, operation_aborted);

  told<message> got;
  server.async_receive(got.handler());
  client.async_send(text("still here"), net::detached);
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(text(got.result), "still here");
}

TEST_F(AsioCancel, OfAnAcceptorEndsItsWaitsOnly) {
  told<connection_request> asked;
  told<connection> accepted;
  at.async_request(asked.handler());
  at.async_accept(server_domain, accepted.handler());
  at.cancel();
  ASSERT_TRUE(run_until([&] { return asked.times == 1 && accepted.times == 1; }));
  EXPECT_EQ(asked.error, operation_aborted);
  EXPECT_EQ(accepted.error, operation_aborted);
  connect_pair();
}

TEST_F(AsioCancel, OfAConnectEndsIt) {
  told<> connected;
  client.async_connect(at.local_endpoint(), connected.handler());  // nobody answers it
  io.restart();
  io.run_for(20ms);
  client.cancel();
  ASSERT_TRUE(run_until([&] { return connected.times == 1; }));
  EXPECT_EQ(connected.error, operation_aborted);
}

// Closed after each number of handlers: nothing stays half started, each operation ends once.
TEST(AsioCloseAnywhere, EndsEachOperationOnce) {
  for (int steps = 0; steps < 40; ++steps) {
    net::io_context io{1};
    device on(io);
    domain in(on);
    acceptor at(on, {net::ip::make_address("127.0.0.1"), 0});
    connection client(in, {.message_count = 8}), server(in, {.message_count = 8});
    registered_buffer memory(in, 65536, access_rights::kLocalWrite | access_rights::kRemoteWrite);
    int started = 0, ended = 0;
    const auto end = [&](auto...) { ++ended; };
    const auto work = [&](error_code) {
      ++ended;
      started += 3;
      client.async_write(memory.part(0, 32768), memory.remote(32768), end);
      client.async_send(text("hello"), end);
      client.async_receive(end);
    };
    started += 3;
    at.async_request([&](error_code error, connection_request request) {
      ++ended;
      if (error) return;
      ++started;
      request.async_accept(server, end);
    });
    server.async_receive(end);
    client.async_connect(at.local_endpoint(), work);
    for (int step = 0; step < steps; ++step) io.run_one_for(steps < 20 ? 20ms : 1ms);
    client.close();
    server.close();
    at.close();
    io.restart();
    io.run_for(20s);
    EXPECT_TRUE(io.stopped()) << "closed after " << steps;
    EXPECT_EQ(started, ended) << "closed after " << steps;
  }
}

#ifdef IWARP_ASIO_HAS_CANCELLATION

using net::cancellation_type;

class AsioSlots : public AsioTest {
 protected:
  net::cancellation_signal signal;
  auto with_slot(auto handler) { return net::bind_cancellation_slot(signal.slot(), handler); }
};

TEST_F(AsioSlots, TotalEndsWhatWaits) {
  connect_pair();
  told<message> waiting;
  server.async_receive(with_slot(waiting.handler()));
  signal.emit(cancellation_type::total);
  ASSERT_TRUE(run_until([&] { return waiting.times == 1; }));
  EXPECT_EQ(waiting.error, operation_aborted);
  EXPECT_TRUE(server.is_open());
}

TEST_F(AsioSlots, TotalLeavesWhatTheDeviceHas) {
  connect_pair();
  registered_buffer here(client_domain, 1 << 20),
      there(server_domain, 1 << 20, access_rights::kLocalWrite | access_rights::kRemoteWrite);
  told<> written;
  client.async_write(here, there.remote(), with_slot(written.handler()));
  signal.emit(cancellation_type::total);
  signal.emit(cancellation_type::partial);
  ASSERT_TRUE(run_until([&] { return written.times == 1; }));
  EXPECT_FALSE(written.error);
}

TEST_F(AsioSlots, TotalEndsARequestThatWaitsForRoom) {
  connect_pair();
  registered_buffer here(client_domain, 1 << 20),
      there(server_domain, 1 << 20, access_rights::kLocalWrite | access_rights::kRemoteWrite);
  told<> others, last, behind;
  for (int i = 0; i < 200; ++i) client.async_write(here, there.remote(), others.handler());
  client.async_write(here, there.remote(), with_slot(last.handler()));
  client.async_write(here, there.remote(), behind.handler());
  signal.emit(cancellation_type::total);
  ASSERT_TRUE(run_until([&] { return last.times == 1 && behind.times == 1; }));
  EXPECT_EQ(last.error, operation_aborted);
  EXPECT_FALSE(behind.error);
  EXPECT_EQ(others.times, 200);
}

TEST_F(AsioSlots, TerminalEndsTheConnection) {
  connect_pair();
  registered_buffer here(client_domain, 64);
  told<> read;
  registered_buffer there(server_domain, 64, access_rights::kRemoteRead);
  send_request request{.opcode = verbs::Opcode::kRead, .local = here, .remote = there.remote()};
  client.async_request(request, with_slot(read.handler()));
  signal.emit(cancellation_type::terminal);
  ASSERT_TRUE(run_until([&] { return read.times == 1; }));
  // It may have ended before the signal came.
  if (read.error) EXPECT_EQ(read.error, operation_aborted);
  ASSERT_TRUE(run_until([&] { return !client.is_open(); }));
}

TEST_F(AsioSlots, AreHeardByConnectAndAccept) {
  told<> connected;
  told<connection> accepted;
  net::cancellation_signal other;
  client.async_connect(at.local_endpoint(), with_slot(connected.handler()));
  signal.emit(cancellation_type::total);
  ASSERT_TRUE(run_until([&] { return connected.times == 1; }));
  EXPECT_EQ(connected.error, operation_aborted);
  at.cancel();
  at.async_accept(server_domain, net::bind_cancellation_slot(other.slot(), accepted.handler()));
  io.restart();
  io.poll();
  other.emit(cancellation_type::total);
  // The request of the first may still be there to be passed over.
  ASSERT_TRUE(run_until([&] { return accepted.times == 1; }));
  EXPECT_EQ(accepted.error, operation_aborted);
}

TEST_F(AsioSlots, AfterTheEndAreNoneOfTheConnectionsBusiness) {
  connect_pair();
  told<> sent;
  client.async_send(text("x"), with_slot(sent.handler()));
  ASSERT_TRUE(run_until([&] { return sent.times == 1; }));
  signal.emit(cancellation_type::terminal);
  EXPECT_TRUE(client.is_open());
}

TEST_F(AsioSlots, MakeTimeOutsOfTimers) {
  using namespace net::experimental::awaitable_operators;
  connect_pair();
  bool timed_out = false;
  const auto wait = [&]() -> net::awaitable<void> {
    net::steady_timer timer(io, 20ms);
    auto first =
        co_await (server.async_receive(net::use_awaitable) || timer.async_wait(net::use_awaitable));
    timed_out = first.index() == 1;
  };
  net::co_spawn(io, wait(), net::detached);
  ASSERT_TRUE(run_until([&] { return timed_out; }));
  EXPECT_TRUE(server.is_open());
}

// An execution context that ends destroys its operations: the slot is another's, and may be gone.
TEST(AsioSlotLife, SignalMayGoBeforeTheOperation) {
  std::optional<connection> waiting;
  std::optional<net::io_context> io(1);
  device on(*io);
  domain in(on);
  waiting.emplace(in, connection_options{.message_count = 4});
  auto signal = std::make_unique<net::cancellation_signal>();
  told<message> heard;
  waiting->async_receive(net::bind_cancellation_slot(signal->slot(), heard.handler()));
  signal.reset();
  io.reset();
  EXPECT_EQ(heard.times, 0);
}

TEST(AsioSlotLife, SignalMayBeRaisedAfterTheOperation) {
  net::cancellation_signal signal;
  std::optional<connection> waiting;
  std::optional<net::io_context> io(1);
  device on(*io);
  domain in(on);
  waiting.emplace(in, connection_options{.message_count = 4});
  told<message> heard;
  waiting->async_receive(net::bind_cancellation_slot(signal.slot(), heard.handler()));
  io.reset();
  signal.emit(cancellation_type::terminal);
  EXPECT_EQ(heard.times, 0);
}

#endif

}  // namespace
}  // namespace iwarp::asio::test
