#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "fixture.hpp"
#include "support/descriptors.hpp"

namespace iwarp::asio::test {
namespace {

using testing::HasSubstr;

/// Each misuse ends with an error code of its own, and last_failure() names what was wrong with
/// what.
class AsioMisuse : public AsioTest {
 protected:
  registered_buffer there{
      server_domain, 4096,
      access_rights::kLocalWrite | access_rights::kRemoteRead | access_rights::kRemoteWrite};

  template <typename Start>
  error_code end_of(Start start) {
    told<> end;
    start(end.handler());
    EXPECT_TRUE(run_until([&] { return end.times == 1; }));
    return end.error;
  }
  /// On a connection: the operation is refused here, as its caller's mistake. Nothing of it is
  /// sent, and the connection goes on.
  template <typename Start>
  void expect_refused(errc code, const std::string& words, Start start) {
    const std::uint64_t before = client.counters().fpdus_sent;
    const error_code error = end_of(start);
    EXPECT_EQ(error, code) << error.message();
    EXPECT_EQ(error, condition::misuse);
    EXPECT_THAT(client.last_failure(), HasSubstr(words));
    EXPECT_THAT(client.last_failure(), HasSubstr("queue pair"));
    EXPECT_EQ(client.counters().fpdus_sent, before);
    EXPECT_TRUE(client.is_open());
    EXPECT_EQ(client.why(), "");
    told<message> heard;
    server.async_receive(heard.handler());
    EXPECT_FALSE(end_of([&](auto handler) { client.async_send(text("it works"), handler); }));
    ASSERT_TRUE(run_until([&] { return heard.times == 1; }));
    EXPECT_EQ(text(heard.result), "it works");
  }
};

TEST_F(AsioMisuse, SendBeforeTheConnection) {
  const error_code early = end_of([&](auto handler) { client.async_send(text("hi"), handler); });
  EXPECT_EQ(early, errc::not_connected);
  EXPECT_EQ(early, condition::misuse);
  EXPECT_THAT(client.last_failure(), HasSubstr("Send: there is no connection yet"));
  EXPECT_THAT(client.last_failure(), HasSubstr("queue pair"));
  EXPECT_EQ(client.why(), "");
  connect_pair();  // it can still be connected
}

TEST_F(AsioMisuse, LargeMemoryThatIsNotRegistered) {
  connect_pair();
  const std::string large(1000, 'x');
  expect_refused(errc::not_registered, "1000 octets of memory that is not registered",
                 [&](auto handler) { client.async_send(net::buffer(large), handler); });
}

TEST_F(AsioMisuse, MemoryOfAnotherDomain) {
  connect_pair();
  registered_buffer foreign(server_domain, 64);
  expect_refused(errc::not_registered, "registered in another domain",
                 [&](auto handler) { client.async_send(local_buffer(foreign), handler); });
}

TEST_F(AsioMisuse, MemoryThatIsRegisteredNoMore) {
  connect_pair();
  local_buffer stale;
  {
    registered_buffer memory(client_domain, 64);
    stale = memory;
    EXPECT_FALSE(end_of([&](auto handler) { client.async_write(stale, there.remote(), handler); }));
  }
  expect_refused(errc::not_registered, "no memory is registered under that key",
                 [&](auto handler) { client.async_write(stale, there.remote(), handler); });
}

TEST_F(AsioMisuse, MoreThanIsRegistered) {
  connect_pair();
  registered_buffer memory(client_domain, 64);
  const local_buffer whole = memory;
  const local_buffer beyond(whole.data(), 65, whole.lkey());
  expect_refused(errc::not_registered, "not inside the 64 octets",
                 [&](auto handler) { client.async_send(beyond, handler); });
  const local_buffer before(whole.data() - 1, 8, whole.lkey());
  expect_refused(errc::not_registered, "not inside the 64 octets",
                 [&](auto handler) { client.async_write(before, there.remote(), handler); });
}

TEST_F(AsioMisuse, ReadIntoMemoryWithoutLocalWrite) {
  connect_pair();
  registered_buffer memory(client_domain, 64, access_rights::kNone);
  expect_refused(errc::not_writable, "without access_rights::kLocalWrite",
                 [&](auto handler) { client.async_read(memory, there.remote(0, 64), handler); });
}

// The second element is the wrong one.
TEST_F(AsioMisuse, EachElementOfAListIsLookedAt) {
  connect_pair();
  registered_buffer memory(client_domain, 64);
  registered_buffer closed(client_domain, 64, access_rights::kNone);
  expect_refused(errc::not_writable, "64 octets at", [&](auto handler) {
    client.async_read({memory, closed}, there.remote(0, 128), handler);
  });
}

// Memory that verbs have registered is known to the device.
TEST_F(AsioMisuse, MemoryThatVerbsRegistered) {
  connect_pair();
  std::vector<std::byte> octets(64);
  auto region = client_domain.native_handle().register_memory(octets, access_rights::kNone);
  ASSERT_TRUE(region);
  const local_buffer good(octets.data(), octets.size(), region->lkey());
  EXPECT_FALSE(end_of([&](auto handler) { client.async_write(good, there.remote(), handler); }));
  expect_refused(errc::not_writable, "without local write",
                 [&](auto handler) { client.async_read(good, there.remote(0, 64), handler); });
  const local_buffer beyond(octets.data(), 65, region->lkey());
  expect_refused(errc::not_registered, "not inside what is registered",
                 [&](auto handler) { client.async_send(beyond, handler); });
  auto other = server_domain.native_handle().register_memory(octets, access_rights::kNone);
  ASSERT_TRUE(other);
  const local_buffer foreign(octets.data(), 64, other->lkey());
  expect_refused(errc::not_registered, "in another domain",
                 [&](auto handler) { client.async_send(foreign, handler); });
  const local_buffer unknown(octets.data(), 64, Stag{region->lkey().value() + 0x100});
  expect_refused(errc::not_registered, "no memory is registered under that key",
                 [&](auto handler) { client.async_send(unknown, handler); });
}

TEST_F(AsioMisuse, MemoryWhoseRegistrationEndsWhileTheRequestWaits) {
  connect_pair();
  auto memory = std::make_unique<registered_buffer>(client_domain, 64);
  told<> sent, late;
  for (int i = 0; i < 128; ++i) {  // as many as the device is given at once
    client.async_write(text("x"), there.remote(), sent.handler());
  }
  client.async_send(*memory, late.handler());
  memory.reset();
  ASSERT_TRUE(run_until([&] { return sent.times == 128 && late.times == 1; }));
  EXPECT_FALSE(sent.error);
  EXPECT_EQ(late.error, errc::not_registered);
  EXPECT_TRUE(client.is_open());
}

TEST_F(AsioMisuse, PeersMemoryWithoutTheRight) {
  connect_pair();
  registered_buffer closed(server_domain, 64, access_rights::kLocalWrite);
  told<> read;
  registered_buffer here(client_domain, 64);
  client.async_read(here, closed.remote(), read.handler());
  ASSERT_TRUE(run_until([&] { return read.times == 1; }));
  EXPECT_EQ(read.error, errc::remote_access);
  EXPECT_NE(read.error, condition::misuse);
  EXPECT_THAT(client.last_failure(), HasSubstr("STag 0x"));
  ASSERT_TRUE(run_until([&] { return !client.is_open(); }));
  EXPECT_THAT(client.why(), HasSubstr("STag 0x"));
  EXPECT_THAT(client.why(), HasSubstr("the peer terminated"));
}

TEST_F(AsioMisuse, ReadOfMoreThanTheRemoteBuffer) {
  connect_pair();
  registered_buffer here(client_domain, 128);
  expect_refused(errc::beyond_remote_buffer, "128 octets, and its remote_buffer",
                 [&](auto handler) { client.async_read(here, there.remote(0, 64), handler); });
}

TEST_F(AsioMisuse, WriteOfMoreThanTheRemoteBuffer) {
  connect_pair();
  registered_buffer here(client_domain, 128);
  expect_refused(errc::beyond_remote_buffer, "RDMA Write: 128 octets, and its remote_buffer",
                 [&](auto handler) { client.async_write(here, there.remote(0, 127), handler); });
  expect_refused(errc::beyond_remote_buffer, "has 3", [&](auto handler) {
    client.async_write(text("four"), there.remote(0, 3), handler);
  });
  expect_refused(
      errc::beyond_remote_buffer, "RDMA Write with immediate: 128 octets",
      [&](auto handler) { client.async_write_immediate(here, there.remote(0, 64), 1, handler); });
  expect_refused(errc::beyond_remote_buffer, "has 0",
                 [&](auto handler) { client.async_write(here, remote_buffer{}, handler); });
}

TEST_F(AsioMisuse, TooManyBuffers) {
  connect_pair();
  registered_buffer here(client_domain, 64);
  const local_buffer one = here.part(0, 1);
  expect_refused(errc::too_many_buffers, "max_buffers", [&](auto handler) {
    client.async_send({one, one, one, one, one}, handler);
  });
  const std::vector<const_local_buffer> many(20, one);
  expect_refused(errc::too_many_buffers, "20 buffers",
                 [&](auto handler) { client.async_send(const_buffer_list(many), handler); });
}

TEST_F(AsioMisuse, Rfc7306ThatWasNotAgreed) {
  connect_pair({.rfc7306 = false}, {.rfc7306 = false});
  expect_refused(errc::not_supported, "RFC 7306 is not in force",
                 [&](auto handler) { client.async_send_immediate(1, handler); });
}

TEST_F(AsioMisuse, WindowsThatCannotBeBound) {
  connect_pair();
  memory_window window(client_domain);
  registered_buffer plain(client_domain, 64);
  registered_buffer readable(client_domain, 64, access_rights::kWindowBind);
  registered_buffer foreign(server_domain, 64,
                            access_rights::kWindowBind | access_rights::kLocalWrite);
  const auto bind = [&](const registered_memory& region, std::size_t size, access_rights rights) {
    return [&, size, rights](auto handler) {
      client.async_bind(window, region, 0, size, rights,
                        [handler](error_code error, remote_buffer) mutable { handler(error); });
    };
  };
  expect_refused(errc::window_bind, "without access_rights::kWindowBind",
                 bind(plain, 64, access_rights::kRemoteRead));
  expect_refused(errc::window_bind, "of another domain",
                 bind(foreign, 64, access_rights::kRemoteRead));
  expect_refused(errc::window_bind, "the peer is to write",
                 bind(readable, 64, access_rights::kRemoteWrite));
  expect_refused(errc::window_bind, "has no octets", bind(readable, 0, access_rights::kRemoteRead));
  expect_refused(errc::window_bind, "rights of the peer only",
                 bind(readable, 64, access_rights::kLocalWrite));
  expect_refused(errc::window_bind, "rights of the peer only",
                 bind(readable, 64, access_rights::kRemoteRead | access_rights::kZeroBased));
  memory_window stranger(server_domain);
  expect_refused(errc::window_bind, "window is of another domain", [&](auto handler) {
    client.async_bind(stranger, readable, 0, 64, access_rights::kRemoteRead,
                      [handler](error_code error, remote_buffer) mutable { handler(error); });
  });
}

TEST_F(AsioMisuse, ABindingThatIsRefusedLeavesTheOneBefore) {
  connect_pair();
  memory_window window(client_domain);
  registered_buffer region(client_domain, 64, access_rights::kWindowBind);
  told<remote_buffer> bound, refused;
  client.async_bind(window, region, 0, 64, access_rights::kRemoteRead, bound.handler());
  client.async_bind(window, region, 0, 64, access_rights::kLocalWrite, refused.handler());
  ASSERT_TRUE(run_until([&] { return bound.times == 1 && refused.times == 1; }));
  EXPECT_EQ(refused.error, errc::window_bind);
  ASSERT_FALSE(bound.error);
  EXPECT_FALSE(end_of([&](auto handler) { client.async_invalidate(bound.result.stag, handler); }));
  EXPECT_TRUE(client.is_open());
}

TEST_F(AsioMisuse, RequestsThatHaveAFunctionOfTheirOwn) {
  connect_pair();
  registered_buffer memory(client_domain, 8);
  const auto ask = [&](const send_request& request) {
    return [&, request](auto handler) { client.async_request(request, handler); };
  };
  expect_refused(
      errc::invalid_request, "async_fetch_add()",
      ask({.opcode = verbs::Opcode::kFetchAdd, .local = memory, .remote = there.remote()}));
  expect_refused(errc::invalid_request, "async_bind()",
                 ask({.opcode = verbs::Opcode::kBindWindow}));
  expect_refused(errc::invalid_request, "registered_memory",
                 ask({.opcode = verbs::Opcode::kRegister}));
  expect_refused(errc::invalid_request, "needs memory that is registered",
                 ask({.opcode = verbs::Opcode::kRead,
                      .unregistered = text("four"),
                      .remote = there.remote()}));
}

TEST_F(AsioMisuse, ReceiveIntoABufferBesideAPool) {
  registered_buffer memory(client_domain, 64);
  told<received> got;
  client.async_receive_into(memory, got.handler());
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(got.error, errc::has_message_pool);
  EXPECT_EQ(got.error, condition::misuse);
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

TEST_F(AsioMisuse, AListenerWhereOneIsSaysSoOnce) {
  try {
    acceptor second(on, at.local_endpoint());
    FAIL() << "two listen at one port";
  } catch (const boost::system::system_error& error) {
    EXPECT_EQ(error.code(), net::error::address_in_use);
    // Newer versions of Boost add where the code comes from.
    EXPECT_THAT(error.what(), testing::MatchesRegex("listening on .*: Address already in use.*"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("use: Address")));
  }
}

TEST_F(AsioMisuse, NobodyListens) {
  const endpoint gone = at.local_endpoint();
  at.close();
  EXPECT_EQ(end_of([&](auto handler) { client.async_connect(gone, handler); }),
            net::error::connection_refused);
}

TEST_F(AsioMisuse, AtomicOnMoreThanTheRemoteBuffer) {
  connect_pair();
  const auto add_at = [&](const remote_buffer& where) {
    return [&, where](auto handler) {
      client.async_fetch_add(
          where, 1, [handler](error_code error, std::uint64_t) mutable { handler(error); });
    };
  };
  expect_refused(errc::beyond_remote_buffer, "FetchAdd: 8 octets", add_at(there.remote(0, 4)));
}

TEST_F(AsioMisuse, RequestsOfAConnectionMadeForNone) {
  connection mute(client_domain, {.max_sends = 0});
  EXPECT_EQ(end_of([&](auto handler) { mute.async_send(text("hi"), handler); }),
            errc::invalid_request);
  EXPECT_THAT(mute.last_failure(), HasSubstr("max_sends 0"));
}

TEST_F(AsioMisuse, RegisteredAndOtherMemoryInOneMessage) {
  connect_pair();
  registered_buffer memory(client_domain, 8);
  const send_request both{.local = memory, .unregistered = text("x")};
  expect_refused(errc::invalid_request, "both registered buffers and",
                 [&](auto handler) { client.async_request(both, handler); });
}

TEST_F(AsioMisuse, RequestsBehindACloseAreTheCallers) {
  connect_pair();
  client.close();
  EXPECT_EQ(end_of([&](auto handler) { client.async_send(text("hi"), handler); }),
            net::error::operation_aborted);
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
  EXPECT_EQ(client.why(), "");
  EXPECT_EQ(client.last_failure(), "");
}

TEST_F(AsioMisuse, ZeroBasedMemory) {
  EXPECT_THROW(registered_buffer(client_domain, 64, access_rights::kZeroBased),
               boost::system::system_error);
}

class AsioNoReceive : public PlainTest {};

TEST_F(AsioNoReceive, AReceiveIntoMemoryWithoutLocalWriteIsRefused) {
  connect_pair();
  registered_buffer closed(server_domain, 64, access_rights::kNone);
  registered_buffer open(server_domain, 64);
  told<received> refused, got;
  server.async_receive_into(closed, refused.handler());
  server.async_receive_into(open, got.handler());
  ASSERT_TRUE(run_until([&] { return refused.times == 1; }));
  EXPECT_EQ(refused.error, errc::not_writable);
  EXPECT_THAT(server.last_failure(), HasSubstr("receive: 64 octets at"));
  client.async_send(text("hi"), net::detached);
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_FALSE(got.error) << got.error.message();
}

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
  EXPECT_NE(got.error, condition::misuse);
  EXPECT_THAT(server.last_failure(), HasSubstr("longer than the 4 octets"));
  ASSERT_TRUE(run_until([&] { return !server.is_open(); }));
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
  for (int value = 1; value <= static_cast<int>(errc::beyond_remote_buffer); ++value) {
    const std::string message = error_code(value, error_category()).message();
    EXPECT_THAT(message, testing::MatchesRegex("(verbs|RDMAP|MPA|asio): .+")) << value;
    EXPECT_THAT(message, testing::Not(HasSubstr("unknown"))) << value;
  }
  EXPECT_THAT(error_code(1000, error_category()).message(), HasSubstr("unknown"));
  const error_code terminate(1 << 24 | 1 << 16 | 1 << 8, received_terminate_category());
  EXPECT_EQ(terminate.message(), "the peer terminated: DDP: invalid STag");
}

TEST(AsioErrors, MisuseIsWhatTheCallerGotWrong) {
  for (const errc misuse :
       {errc::not_registered, errc::not_writable, errc::beyond_remote_buffer, errc::window_bind,
        errc::not_connected, errc::invalid_request, errc::too_many_buffers, errc::no_message_pool,
        errc::has_message_pool, errc::not_supported}) {
    EXPECT_EQ(error_code(misuse), condition::misuse) << error_code(misuse).message();
  }
  for (const errc other :
       {errc::message_too_long, errc::remote_access, errc::remote_invalid_request,
        errc::remote_operation, errc::local_queue_pair, errc::connection_lost, errc::rejected}) {
    EXPECT_NE(error_code(other), condition::misuse) << error_code(other).message();
  }
  EXPECT_NE(error_code(), condition::misuse);
  EXPECT_NE(error_code(net::error::eof), condition::misuse);
  EXPECT_NE(error_code(1, received_terminate_category()), condition::misuse);
  EXPECT_THAT(make_error_condition(condition::misuse).message(), HasSubstr("the caller"));
}

}  // namespace
}  // namespace iwarp::asio::test
