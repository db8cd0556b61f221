#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "fixture.hpp"
#include "support/descriptors.hpp"

namespace iwarp::asio::test {
namespace {

using testing::HasSubstr;

/// Each misuse ends with an error code of its own, and why() names what was wrong with what.
class AsioMisuse : public AsioTest {
 protected:
  registered_buffer there{server_domain, 4096,
                          access::kLocalWrite | access::kRemoteRead | access::kRemoteWrite};

  template <typename Start>
  error_code end_of(Start start) {
    told<> end;
    start(end.handler());
    EXPECT_TRUE(run_until([&] { return end.times == 1; }));
    return end.error;
  }
};

TEST_F(AsioMisuse, SendBeforeTheConnection) {
  EXPECT_EQ(end_of([&](auto handler) { client.async_send(text("hi"), handler); }),
            errc::not_connected);
  EXPECT_THAT(client.why(), HasSubstr("Send: there is no connection yet"));
  EXPECT_THAT(client.why(), HasSubstr("queue pair"));
}

TEST_F(AsioMisuse, LargeMemoryThatIsNotRegistered) {
  connect_pair();
  const std::string large(1000, 'x');
  EXPECT_EQ(end_of([&](auto handler) { client.async_send(net::buffer(large), handler); }),
            errc::not_registered);
  EXPECT_THAT(client.why(), HasSubstr("1000 octets of memory that is not registered"));
  // It never reached the device: the connection lives.
  EXPECT_FALSE(end_of([&](auto handler) { client.async_send(text("small"), handler); }));
}

TEST_F(AsioMisuse, MemoryOfAnotherDomain) {
  connect_pair();
  registered_buffer foreign(server_domain, 64);
  EXPECT_EQ(end_of([&](auto handler) { client.async_send(local_buffer(foreign), handler); }),
            errc::not_registered);
  EXPECT_THAT(client.why(), HasSubstr("registered in another domain"));
}

TEST_F(AsioMisuse, MemoryThatIsRegisteredNoMore) {
  connect_pair();
  local_buffer stale;
  {
    registered_buffer memory(client_domain, 64);
    stale = memory;
  }
  EXPECT_EQ(end_of([&](auto handler) { client.async_write(stale, there.remote(), handler); }),
            errc::not_registered);
  EXPECT_THAT(client.why(), HasSubstr("no memory is registered under that key"));
}

TEST_F(AsioMisuse, MoreThanIsRegistered) {
  connect_pair();
  registered_buffer memory(client_domain, 64);
  const local_buffer whole = memory;
  const local_buffer beyond(whole.data(), 65, whole.lkey());
  EXPECT_EQ(end_of([&](auto handler) { client.async_send(beyond, handler); }),
            errc::not_registered);
  EXPECT_THAT(client.why(), HasSubstr("not inside the 64 octets"));
}

TEST_F(AsioMisuse, ReadIntoMemoryWithoutLocalWrite) {
  connect_pair();
  registered_buffer memory(client_domain, 64, access::kNone);
  EXPECT_EQ(end_of([&](auto handler) { client.async_read(memory, there.remote(0, 64), handler); }),
            errc::not_registered);
  EXPECT_THAT(client.why(), HasSubstr("without access::kLocalWrite"));
}

TEST_F(AsioMisuse, PeersMemoryWithoutTheRight) {
  connect_pair();
  registered_buffer closed(server_domain, 64, access::kLocalWrite);
  told<> read;
  registered_buffer here(client_domain, 64);
  client.async_read(here, closed.remote(), read.handler());
  ASSERT_TRUE(run_until([&] { return read.times == 1; }));
  EXPECT_EQ(read.error, errc::remote_access);
  EXPECT_THAT(client.why(), HasSubstr("STag 0x"));
  EXPECT_THAT(client.why(), HasSubstr("peer"));
}

TEST_F(AsioMisuse, MoreThanThePeersBuffer) {
  connect_pair();
  registered_buffer here(client_domain, 128);
  EXPECT_EQ(end_of([&](auto handler) { client.async_read(here, there.remote(0, 64), handler); }),
            errc::remote_access);
  EXPECT_THAT(client.why(), HasSubstr("128 octets"));
}

TEST_F(AsioMisuse, TooManyBuffers) {
  connect_pair();
  registered_buffer here(client_domain, 64);
  const local_buffer one = here.part(0, 1);
  EXPECT_EQ(end_of([&](auto handler) {
              client.async_send({one, one, one, one, one}, handler);
            }),
            errc::too_many_buffers);
  EXPECT_THAT(client.why(), HasSubstr("max_buffers"));
}

TEST_F(AsioMisuse, ReceiveIntoABufferBesideAPool) {
  registered_buffer memory(client_domain, 64);
  told<received> got;
  client.async_receive_into(memory, got.handler());
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(got.error, errc::has_message_pool);
}

TEST_F(AsioMisuse, PoolOfAnotherDomain) {
  message_pool pool(server_domain, {.count = 4});
  try {
    connection wrong(client_domain, {.messages = &pool});
    FAIL() << "made with a pool of another domain";
  } catch (const boost::system::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("another domain"));
  }
}

TEST_F(AsioMisuse, LimitsAboveTheDevices) {
  try {
    connection wrong(client_domain, {.max_sends = 1U << 30U});
    FAIL() << "made with a queue that no device has";
  } catch (const boost::system::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("max_send_wr"));
  }
}

TEST_F(AsioMisuse, ConnectTwice) {
  connect_pair();
  EXPECT_EQ(end_of([&](auto handler) { client.async_connect(at.local_endpoint(), handler); }),
            net::error::already_connected);
}

TEST_F(AsioMisuse, NobodyListens) {
  const endpoint gone = at.local_endpoint();
  at.close();
  EXPECT_EQ(end_of([&](auto handler) { client.async_connect(gone, handler); }),
            net::error::connection_refused);
}

TEST_F(AsioMisuse, AtomicOnMoreThanThePeersBuffer) {
  connect_pair();
  told<std::uint64_t> added;
  client.async_fetch_add(there.remote(0, 4), 1, added.handler());
  ASSERT_TRUE(run_until([&] { return added.times == 1; }));
  EXPECT_EQ(added.error, errc::remote_access);
}

TEST_F(AsioMisuse, RequestsOfAConnectionMadeForNone) {
  connection mute(client_domain, {.max_sends = 0});
  EXPECT_EQ(end_of([&](auto handler) { mute.async_send(text("hi"), handler); }),
            errc::invalid_request);
  EXPECT_THAT(mute.why(), HasSubstr("max_sends 0"));
}

TEST_F(AsioMisuse, RegisteredAndOtherMemoryInOneMessage) {
  connect_pair();
  registered_buffer memory(client_domain, 8);
  const send_request both{.local = memory, .unregistered = text("x")};
  EXPECT_EQ(end_of([&](auto handler) { client.async_request(both, handler); }),
            errc::invalid_request);
}

TEST_F(AsioMisuse, AcceptWithImpossibleOptions) {
  const std::string long_data(600, 'x');
  told<connection> accepted;
  told<> connected;
  at.async_accept(server_domain, {}, {.private_data = net::buffer(long_data)}, accepted.handler());
  client.async_connect(at.local_endpoint(), connected.handler());
  ASSERT_TRUE(run_until([&] { return accepted.times == 1 && connected.times == 1; }));
  EXPECT_EQ(accepted.error, net::error::invalid_argument);
  EXPECT_TRUE(connected.error);
}

TEST_F(AsioMisuse, AnswerARequestTwice) {
  told<> accepted, again;
  at.async_request([&](error_code, connection_request request) {
    request.async_accept(server, accepted.handler());
    request.async_accept(server, again.handler());
    EXPECT_EQ(request.reject(), net::error::already_started);
  });
  client.async_connect(at.local_endpoint(), net::detached);
  ASSERT_TRUE(run_until([&] { return accepted.times == 1 && again.times == 1; }));
  EXPECT_FALSE(accepted.error);
  EXPECT_EQ(again.error, net::error::already_started);
}

TEST_F(AsioMisuse, ObjectsThatWereMovedFrom) {
  connection other = std::move(client);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what this is about
  EXPECT_EQ(end_of([&](auto handler) { client.async_send(text("hi"), handler); }),
            net::error::bad_descriptor);
  acceptor elsewhere = std::move(at);
  told<connection_request> asked;
  at.async_request(asked.handler());
  EXPECT_TRUE(run_until([&] { return asked.times == 1; }));
  EXPECT_EQ(asked.error, net::error::bad_descriptor);
  client.close();
  client.cancel();
  EXPECT_FALSE(client.is_open());
}

TEST_F(AsioMisuse, ZeroBasedMemory) {
  EXPECT_THROW(registered_buffer(client_domain, 64, access::kZeroBased),
               boost::system::system_error);
}

class AsioNoReceive : public PlainTest {};

TEST_F(AsioNoReceive, AStartThatCannotBeEndsTheReceivesToo) {
  registered_buffer memory(client_domain, 64);
  const std::string long_data(600, 'x');
  told<received> waiting;
  told<> connected;
  client.async_receive_into(memory, waiting.handler());
  client.async_connect(at.local_endpoint(), {.private_data = net::buffer(long_data)},
                       connected.handler());
  ASSERT_TRUE(run_until([&] { return connected.times == 1 && waiting.times == 1; }));
  EXPECT_EQ(connected.error, net::error::invalid_argument);
  EXPECT_TRUE(waiting.error);
  EXPECT_THAT(client.why(), HasSubstr("rivate data"));
}

TEST_F(AsioNoReceive, ASendThatFindsNoneEndsTheConnectionAndSaysSo) {
  connect_pair();
  registered_buffer memory(client_domain, 64);
  told<received> waiting;
  client.async_receive_into(memory, waiting.handler());
  client.async_send(text("nobody listens"), net::detached);
  ASSERT_TRUE(run_until([&] { return waiting.times == 1; }));
  EXPECT_EQ(waiting.error.category(), received_terminate_category());
  EXPECT_THAT(waiting.error.message(), HasSubstr("the peer terminated: DDP"));
  EXPECT_THAT(client.why(), HasSubstr("Terminate 1/2/0x02"));  // no buffer available
}

TEST_F(AsioNoReceive, AMessageLongerThanItsReceiveSaysHowLongThatWas) {
  registered_buffer memory(server_domain, 4);
  told<received> got;
  server.async_receive_into(memory, got.handler());
  connect_pair();
  client.async_send(text("too long"), net::detached);
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(got.error, errc::message_too_long);
  EXPECT_THAT(server.why(), HasSubstr("longer than the 4 octets"));
}

TEST_F(AsioNoReceive, WithoutAPoolThereIsNothingToTakeMessagesFrom) {
  told<message> got;
  client.async_receive(got.handler());
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(got.error, errc::no_message_pool);
}

// Each descriptor that a device needs is missing once. Told at once, and nothing of it is left.
TEST(AsioDescriptors, ADeviceThatFindsTooFewIsRefused) {
  using iwarp::test::DescriptorLimit;
  if (DescriptorLimit::kUnbearable) GTEST_SKIP() << DescriptorLimit::kWhy;
  net::io_context io;
  const net::posix::stream_descriptor reactor(io);  // Asio's own are there already
  const auto next_free = [] {
    const int descriptor = ::dup(STDERR_FILENO);
    ::close(descriptor);
    return descriptor;
  };
  const int first = next_free();
  ASSERT_GE(first, 0);
  const auto is_made_with = [&](int more) {
    const DescriptorLimit limit(static_cast<rlim_t>(first) + static_cast<rlim_t>(more));
    try {
      const device on(io);
      return true;
    } catch (const std::system_error& refused) {
      EXPECT_EQ(refused.code(), std::errc::too_many_files_open);
    } catch (const boost::system::system_error& refused) {
      EXPECT_EQ(refused.code(), boost::system::errc::too_many_files_open);
    }
    return false;
  };
  int missing = 0;
  while (missing < 32 && !is_made_with(missing)) ++missing;
  EXPECT_GT(missing, 0);
  EXPECT_LT(missing, 32);
  EXPECT_EQ(next_free(), first) << "a descriptor was left open";
}

TEST(AsioErrors, HaveMessagesThatNameTheLayer) {
  for (int value = 1; value <= static_cast<int>(errc::not_supported); ++value) {
    const std::string message = error_code(value, error_category()).message();
    EXPECT_THAT(message, testing::MatchesRegex("(verbs|RDMAP|MPA|asio): .+")) << value;
    EXPECT_THAT(message, testing::Not(HasSubstr("unknown"))) << value;
  }
  EXPECT_THAT(error_code(1000, error_category()).message(), HasSubstr("unknown"));
  const error_code terminate(1 << 24 | 1 << 16 | 1 << 8, received_terminate_category());
  EXPECT_EQ(terminate.message(), "the peer terminated: DDP: invalid STag");
}

}  // namespace
}  // namespace iwarp::asio::test
