#include <boost/asio/bind_executor.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <future>
#include <thread>

#include "fixture.hpp"

namespace iwarp::asio::test {
namespace {

class AsioLife : public PlainTest {
 protected:
  registered_buffer there{server_domain, 1 << 20,
                          access_rights::kLocalWrite | access_rights::kRemoteWrite};
  registered_buffer here{client_domain, 1 << 20};
};

TEST_F(AsioLife, ADestroyedConnectionEndsItsOperationsOnceEach) {
  connect_pair();
  told<received> receives;
  told<> writes;
  for (int i = 0; i < 300; ++i) {  // more than the queues have
    client.async_receive_into(here.part(0, 64), receives.handler());
    client.async_write(here, there.remote(), writes.handler());
  }
  client = connection();
  ASSERT_TRUE(run_until([&] { return receives.times == 300 && writes.times == 300; }));
  EXPECT_EQ(receives.error, net::error::operation_aborted);
  EXPECT_EQ(writes.error, net::error::operation_aborted);
  io.restart();
  io.run_for(50ms);
  EXPECT_EQ(receives.times, 300);
  EXPECT_EQ(writes.times, 300);
}

TEST_F(AsioLife, WhatWasSentArrivesAlthoughTheConnectionIsDestroyed) {
  told<received> got, waiting;
  server.async_receive_into(there.part(0, 64), got.handler());
  connect_pair();
  told<> sent;
  client.async_receive_into(here.part(0, 64), waiting.handler());
  client.async_send(text("last words"), sent.handler());
  ASSERT_TRUE(run_until([&] { return sent.times == 1; }));
  client = connection();
  ASSERT_TRUE(run_until([&] { return got.times == 1 && waiting.times == 1; }));
  EXPECT_FALSE(got.error) << got.error.message();
  EXPECT_EQ(got.result.size, 10U);
  EXPECT_EQ(waiting.error, net::error::operation_aborted);
}

TEST_F(AsioLife, ShutdownEndsBothEnds) {
  told<received> got;
  server.async_receive_into(there.part(0, 64), got.handler());
  connect_pair();
  told<> down, late;
  client.async_shutdown(down.handler());
  ASSERT_TRUE(run_until([&] { return down.times == 1 && got.times == 1; }));
  EXPECT_FALSE(down.error) << down.error.message();
  EXPECT_EQ(got.error, net::error::eof);
  EXPECT_FALSE(client.is_open());
  client.async_send(text("late"), late.handler());
  ASSERT_TRUE(run_until([&] { return late.times == 1; }));
  EXPECT_TRUE(late.error);
}

TEST_F(AsioLife, ShutdownSendsWhatWaitsBefore) {
  told<received> got;
  for (int i = 0; i < 100; ++i) server.async_receive_into(there.part(0, 64), got.handler());
  connect_pair({}, {});
  told<> sent, down;
  for (int i = 0; i < 100; ++i) {
    client.async_write(here, there.remote(), net::detached);
    client.async_write(here, there.remote(), net::detached);
    client.async_send(text("x"), sent.handler());
  }
  client.async_shutdown(down.handler());
  ASSERT_TRUE(run_until([&] { return down.times == 1 && got.times == 100; }));
  EXPECT_EQ(sent.times, 100);
  EXPECT_FALSE(sent.error) << sent.error.message();
  EXPECT_FALSE(got.error) << got.error.message();
  EXPECT_FALSE(down.error) << down.error.message();
}

TEST_F(AsioLife, RunReturnsOnceNothingIsUnderWay) {
  connect_pair();
  told<> sent;
  client.async_write(here.part(0, 64), there.remote(), sent.handler());
  ASSERT_TRUE(run_to_end());
  EXPECT_EQ(sent.times, 1);
}

TEST_F(AsioLife, HandlersMayThrowAsInAsio) {
  connect_pair();
  client.async_write(here.part(0, 64), there.remote(),
                     [](error_code) { throw std::runtime_error("mine"); });
  told<> next;
  client.async_write(here.part(0, 64), there.remote(), next.handler());
  io.restart();
  EXPECT_THROW(
      {
        for (;;) io.run_for(5s);
      },
      std::runtime_error);
  ASSERT_TRUE(run_until([&] { return next.times == 1; }));
  EXPECT_FALSE(next.error);
}

TEST_F(AsioLife, AHandlerMayDestroyItsConnection) {
  connect_pair();
  told<received> waiting;
  client.async_receive_into(here.part(0, 8), waiting.handler());
  bool done = false;
  client.async_write(here.part(0, 64), there.remote(), [&](error_code) {
    client = connection();
    done = true;
  });
  ASSERT_TRUE(run_until([&] { return done && waiting.times == 1; }));
  EXPECT_EQ(waiting.error, net::error::operation_aborted);
}

TEST_F(AsioLife, MemoryMayEndBeforeTheOperationsThatNameIt) {
  connect_pair();
  told<received> got;
  {
    registered_buffer brief(server_domain, 64);
    server.async_receive_into(brief, got.handler());
  }
  told<> sent;
  client.async_send(text("into the void"), sent.handler());
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(got.error, errc::not_registered);
}

TEST_F(AsioLife, ReceivesEndWithAConnectThatFails) {
  const endpoint gone = at.local_endpoint();
  at.close();
  told<received> waiting;
  told<> connected;
  client.async_receive_into(here.part(0, 64), waiting.handler());
  client.async_connect(gone, connected.handler());
  ASSERT_TRUE(run_until([&] { return connected.times == 1 && waiting.times == 1; }));
  EXPECT_TRUE(connected.error);
  EXPECT_TRUE(waiting.error);
  ASSERT_TRUE(run_to_end());
}

TEST_F(AsioLife, ReceivesEndWithAConnectionThatNeverWas) {
  told<received> waiting;
  for (int i = 0; i < 200; ++i) client.async_receive_into(here.part(0, 64), waiting.handler());
  client = connection();
  ASSERT_TRUE(run_until([&] { return waiting.times == 200; }));
  EXPECT_EQ(waiting.error, net::error::operation_aborted);
  ASSERT_TRUE(run_to_end());
}

TEST_F(AsioLife, ReceivesEndWithARejection) {
  told<received> waiting;
  told<> connected;
  client.async_receive_into(here.part(0, 64), waiting.handler());
  at.async_request([](error_code, connection_request request) {
    EXPECT_FALSE(request.reject(text("not you")));
  });
  client.async_connect(at.local_endpoint(), connected.handler());
  ASSERT_TRUE(run_until([&] { return connected.times == 1 && waiting.times == 1; }));
  EXPECT_EQ(connected.error, errc::rejected);
  EXPECT_TRUE(waiting.error);
  const auto& said = client.info().private_data;
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(said.data()), said.size()), "not you");
}

// Each order of destruction once; AddressSanitizer looks on.
TEST(AsioDestruction, InAnyOrderIsSafe) {
  for (int first = 0; first < 6; ++first) {
    auto io = std::make_unique<net::io_context>();
    auto on = std::make_unique<device>(*io);
    auto in = std::make_unique<domain>(*on);
    auto pool = std::make_unique<message_pool>(*in, message_pool_options{.count = 8});
    auto at = std::make_unique<acceptor>(*on, endpoint(net::ip::make_address("127.0.0.1"), 0));
    auto client = std::make_unique<connection>(*in, connection_options{.messages = pool.get()});
    auto server = std::make_unique<connection>(*in, connection_options{.messages = pool.get()});
    auto memory = std::make_unique<registered_buffer>(
        *in, 4096, access_rights::kLocalWrite | access_rights::kRemoteWrite);
    int ended = 0;
    auto count = [&ended](auto...) { ++ended; };
    at->async_request(
        [&](error_code, connection_request request) { request.async_accept(*server, count); });
    client->async_connect(at->local_endpoint(), count);
    while (ended < 2) io->run_one_for(10s);
    client->async_receive(count);
    server->async_receive(count);
    client->async_write(memory->part(0, 2048), memory->remote(2048), count);
    at->async_request([](error_code, const connection_request&) {});
    const auto end = [&](int what) {
      switch (what % 6) {
        case 0: return io.reset();
        case 1: return on.reset();
        case 2: return in.reset();
        case 3: return pool.reset();
        case 4: return memory.reset();
        default: at.reset();
      }
    };
    for (int step = 0; step < 6; ++step) end(first + step);
    client.reset();
    server.reset();
    EXPECT_GE(ended, 2);
  }
}

TEST(AsioDestruction, OfTheContextDropsHandlersThatOwnTheConnection) {
  auto alive = std::make_shared<int>(0);
  std::weak_ptr<int> observed = alive;
  {
    net::io_context io;
    device on(io);
    domain in(on);
    acceptor at(on, {net::ip::make_address("127.0.0.1"), 0});
    auto owned = std::make_shared<connection>(in, connection_options{.message_count = 4});
    owned->async_connect(at.local_endpoint(), [owned, alive](error_code) {});
    at.async_request([alive](error_code, const connection_request&) {});
    connection idle(in, {.max_receives = 4});
    registered_buffer memory(in, 64);
    idle.async_receive_into(memory, [alive](error_code, received) {});
    alive.reset();
  }
  EXPECT_TRUE(observed.expired());
}

TEST(AsioThreads, HandlersRunOnTheirExecutorOnly) {
  net::io_context io;
  net::thread_pool others(1);
  device on(io);
  domain in(on);
  acceptor at(on, {net::ip::make_address("127.0.0.1"), 0});
  connection client(in, {.message_count = 4}), server(in, {.message_count = 4});
  std::promise<std::thread::id> told_there;
  const auto here = std::this_thread::get_id();
  at.async_request([&](error_code, connection_request request) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    request.async_accept(server, [&](error_code) { EXPECT_EQ(std::this_thread::get_id(), here); });
  });
  client.async_connect(at.local_endpoint(),
                       net::bind_executor(others.get_executor(), [&](error_code error) {
                         EXPECT_FALSE(error);
                         told_there.set_value(std::this_thread::get_id());
                       }));
  auto there = told_there.get_future();
  while (there.wait_for(0s) != std::future_status::ready) io.run_for(5ms);
  EXPECT_NE(there.get(), here);
  others.join();
}

// Many connections on many threads, each on a strand of its own.
TEST(AsioThreads, ManyMayRunTheContext) {
  net::io_context io;
  device on(io);
  domain in(on);
  message_pool pool(in, {.count = 256, .message_size = 64});
  acceptor at(on, {net::ip::make_address("127.0.0.1"), 0});
  constexpr int kClients = 8, kRounds = 100;
  std::atomic<int> done{0};
  const auto end = [](std::exception_ptr thrown) {
    if (thrown) std::rethrow_exception(thrown);
  };
  const auto serve_one = [](connection client) -> net::awaitable<void> {
    try {
      for (;;) {
        const message got = co_await client.async_receive(net::use_awaitable);
        co_await client.async_send(got.bytes(), net::use_awaitable);
      }
    } catch (const boost::system::system_error& over) {
      EXPECT_EQ(over.code(), net::error::eof);
    }
  };
  const auto serve = [&]() -> net::awaitable<void> {
    for (int i = 0; i < kClients; ++i) {
      connection_options options;
      options.messages = &pool;
      auto client = co_await at.async_accept(in, options, net::use_awaitable);
      net::co_spawn(net::make_strand(io), serve_one(std::move(client)), end);
    }
  };
  const auto ask = [&]() -> net::awaitable<void> {
    connection_options options;
    options.messages = &pool;
    connection server(co_await net::this_coro::executor, in, options);
    co_await server.async_connect(at.local_endpoint(), net::use_awaitable);
    for (int round = 0; round < kRounds; ++round) {
      const std::string question = "question " + std::to_string(round);
      co_await server.async_send(net::buffer(question), net::use_awaitable);
      const message answer = co_await server.async_receive(net::use_awaitable);
      EXPECT_EQ(text(answer), question);
    }
    co_await server.async_shutdown(net::use_awaitable);
    ++done;
  };
  net::co_spawn(net::make_strand(io), serve(), end);
  for (int i = 0; i < kClients; ++i) net::co_spawn(net::make_strand(io), ask(), end);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { io.run_for(60s); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(done, kClients);
  EXPECT_EQ(pool.available(), 256U);
}

TEST_F(AsioLife, PollingByTheProgramFindsWhatTheContextWouldWaitFor) {
  connect_pair();
  told<> written;
  client.async_write(here, there.remote(), written.handler());
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  io.restart();
  while (written.times == 0 && std::chrono::steady_clock::now() < deadline) {
    on.poll_for(1ms);
    io.poll();
  }
  EXPECT_EQ(written.times, 1);
  EXPECT_FALSE(written.error);
  ASSERT_TRUE(run_to_end());
}

}  // namespace
}  // namespace iwarp::asio::test
