#include <boost/asio/bind_executor.hpp>

#include "fixture.hpp"
#include "support/forked_child.hpp"
#include "support/sanitizers.hpp"

// A program that forks, with and without telling its io_context.
namespace iwarp::asio::test {
namespace {

using iwarp::test::kSanitizer;
using iwarp::test::status_of_child;

const boost::system::error_code kNoDevice{ENODEV, boost::system::system_category()};

/// All that a program has, on the heap, so that a child can destroy it in the order of a return
/// from main: connections first, the io_context last.
struct Program {
  Program() {
    told<> connected, accepted;
    at.async_request([&](error_code error, connection_request request) {
      if (!error) request.async_accept(server, accepted.handler());
    });
    client.async_connect(at.local_endpoint(), connected.handler());
    run_until([&] { return connected.times == 1 && accepted.times == 1; });
    if (connected.error || accepted.error) throw std::runtime_error("no connection");
  }

  template <typename Condition>
  bool run_until(Condition done) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      io.restart();
      io.run_for(1s);
    }
    return done();
  }
  /// Reads of the client's and a Send each way; false unless all end well.
  bool turns(int count) {
    for (int i = 0; i < count; ++i) {
      told<> sent, read;
      told<message> arrived;
      server.async_receive(arrived.handler());
      client.async_send(text("a message"), sent.handler());
      client.async_read(here, theirs.remote(), read.handler());
      if (!run_until([&] { return sent.times == 1 && read.times == 1 && arrived.times == 1; })) {
        return false;
      }
      if (sent.error || read.error || arrived.error) return false;
    }
    return true;
  }

  net::io_context io{1};
  device on{io};
  domain in{on};
  registered_buffer here{in, 50'000, access_rights::kLocalWrite};
  registered_buffer theirs{in, 50'000, access_rights::kLocalWrite | access_rights::kRemoteRead};
  acceptor at{on, endpoint(net::ip::make_address("127.0.0.1"), 0)};
  connection client{in, {.message_count = 16}};
  connection server{in, {.message_count = 16}};
};

TEST(AsioFork, ChildThatDestroysTheContextLeavesItToTheParent) {
  auto program = std::make_unique<Program>();
  ASSERT_TRUE(program->turns(3));
  // The context sleeps at the queue while the children end.
  told<message> awaited;
  program->server.async_receive(awaited.handler());
  program->io.restart();
  program->io.run_for(20ms);
  for (int child = 0; child < 5; ++child) {
    ASSERT_EQ(status_of_child([&] {
                program.reset();
                return true;
              }),
              0);
  }
  told<> sent;
  program->client.async_send(text("from the parent"), sent.handler());
  ASSERT_TRUE(program->run_until([&] { return awaited.times == 1; }));
  EXPECT_EQ(text(awaited.result), "from the parent");
  EXPECT_TRUE(program->turns(20));
}

TEST(AsioFork, ChildThatDestroysTheConnectionsOnlyLeavesThemToTheParent) {
  auto program = std::make_unique<Program>();
  EXPECT_EQ(status_of_child([&] {
              program->client.close();
              program->server = connection();
              program->at.close();
              return true;
            }),
            0);
  EXPECT_TRUE(program->turns(20));
}

TEST(AsioFork, OperationsOnWhatIsInheritedFail) {
  auto program = std::make_unique<Program>();
  EXPECT_EQ(status_of_child([&] {
              // Handlers go to a context of the child's own.
              net::io_context io{1};
              told<> sent, ended;
              told<message> arrived;
              told<connection_request> asked;
              const auto on = [&io](auto handler) { return net::bind_executor(io, handler); };
              program->client.async_send(text("no"), on(sent.handler()));
              program->client.async_shutdown(on(ended.handler()));
              program->server.async_receive(on(arrived.handler()));
              program->at.async_request(on(asked.handler()));
              io.run();
              bool thrown = false;
              try {
                domain another(program->on);
              } catch (const boost::system::system_error& error) {
                thrown = error.code() == kNoDevice;
              }
              return thrown && sent.error == kNoDevice && ended.error == kNoDevice &&
                     arrived.error == kNoDevice && asked.error == kNoDevice &&
                     !program->client.is_open() && program->on.poll() == 0 &&
                     program->on.poll_for(1h) == 0;
            }),
            0);
  EXPECT_TRUE(program->turns(5));
}

// Forks as Asio has it, and runs `body` in the child.
template <typename Body>
int status_of_told_child(net::io_context& io, const Body& body) {
  io.notify_fork(net::io_context::fork_prepare);
  const int status = status_of_child([&] {
    io.notify_fork(net::io_context::fork_child);
    return body();
  });
  io.notify_fork(net::io_context::fork_parent);
  return status;
}

TEST(AsioFork, OperationsUnderWayEndInAChildThatTellsItsContext) {
  auto program = std::make_unique<Program>();
  told<message> awaited;
  told<connection_request> asked;
  told<> read;
  program->server.async_receive(awaited.handler());
  program->at.async_request(asked.handler());
  program->io.restart();
  program->io.run_for(20ms);  // to sleep
  program->client.async_read(program->here, program->theirs.remote(), read.handler());
  EXPECT_EQ(status_of_told_child(program->io,
                                 [&] {
                                   program->io.restart();
                                   program->io.run();  // until nothing is under way
                                   return awaited.error == kNoDevice && asked.error == kNoDevice &&
                                          read.error == kNoDevice;
                                 }),
            0);
  EXPECT_EQ(awaited.times, 0);
  told<> sent;
  program->client.async_send(text("from the parent"), sent.handler());
  ASSERT_TRUE(program->run_until([&] { return awaited.times == 1 && read.times == 1; }));
  EXPECT_EQ(text(awaited.result), "from the parent");
  EXPECT_FALSE(read.error);
  program->at.cancel();
  EXPECT_TRUE(program->run_until([&] { return asked.times == 1; }));
  EXPECT_TRUE(program->turns(20));
}

/// What a child opens on the context that it has inherited and told of the fork.
struct Own {
  explicit Own(Program& program) : on(program.io) {
    at.async_request([this](error_code, connection_request request) {
      request.async_accept(server, accepted.handler());
    });
    client.async_connect(at.local_endpoint(), connected.handler());
    program.run_until([this] { return connected.times == 1 && accepted.times == 1; });
  }
  [[nodiscard]] bool is_connected() const {
    return connected.times == 1 && accepted.times == 1 && !connected.error && !accepted.error;
  }

  told<> connected, accepted;
  device on;
  domain in{on};
  acceptor at{on, endpoint(net::ip::make_address("127.0.0.1"), 0)};
  connection client{in, {.message_count = 16}};
  connection server{in, {.message_count = 16}};
};

TEST(AsioFork, ContextOfAChildTakesADeviceOfItsOwn) {
  if (kSanitizer) GTEST_SKIP() << iwarp::test::kNoThreadsInChildren;
  auto program = std::make_unique<Program>();
  const auto child = [&program] {
    Own own(*program);
    told<message> never;
    own.client.async_receive(never.handler());
    program.reset();  // what is the child's own has to leave the context in time
    return own.is_connected() && never.times == 0;
  };
  EXPECT_EQ(status_of_told_child(program->io, child), 0);
  EXPECT_TRUE(program->turns(20));
}

}  // namespace
}  // namespace iwarp::asio::test
