#include <future>

#include "support/descriptors.hpp"
#include "verbs/adopt_socket_support.hpp"

/// Descriptors that are handed over: whose they are when, and what moves over the connection
/// afterwards.
namespace iwarp::verbs::test {
namespace {

using iwarp::test::open_descriptors;
using testing::HasSubstr;

// One message from `a` to `b`.
void expect_message(Side& from, QueuePair& a, Side& to, QueuePair& b) {
  Buffer source(from.pd, 100, Access::kNone, std::byte{0x5A});
  Buffer sink(to.pd, 100, Access::kLocalWrite);
  const Sge out = source.sge(), in = sink.sge();
  ASSERT_TRUE(b.post_receive({.wr_id = 1, .sges = {&in, 1}}));
  ASSERT_TRUE(a.post_send(send_of(2, {&out, 1})));
  const auto received = to.cq.wait(kPatience);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->status, Status::kSuccess);
  EXPECT_EQ(received->byte_length, 100U);
  EXPECT_EQ(sink.memory, source.memory);
  const auto sent = from.cq.wait(kPatience);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->status, Status::kSuccess);
}

// RFC 5044 Figure 9 with a program of its own in front.
TEST_F(AdoptSocket, MovesMessagesAfterAHelloAndItsAcknowledgement) {
  const int client = sockets_.client.descriptor(), server = sockets_.server.descriptor();
  std::thread responder([&] {
    EXPECT_EQ(receive_all(server, 5), octets("HELLO"));
    AwaitOptions options;
    options.last_message = octets("HELLO ACK");
    auto request = server_.device.await_request(sockets_.server, options);
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_FALSE(sockets_.server);
    EXPECT_TRUE(request->accept(server_qp_));
  });
  send_all(client, octets("HELLO"));
  EXPECT_EQ(receive_all(client, 9), octets("HELLO ACK"));
  const auto connected = client_qp_.adopt(sockets_.client);
  responder.join();
  ASSERT_TRUE(connected) << connected.error().message;
  EXPECT_FALSE(sockets_.client);
  expect_message(client_, client_qp_, server_, server_qp_);
  expect_message(server_, server_qp_, client_, client_qp_);
  client_qp_.disconnect();
  EXPECT_TRUE(server_qp_.wait_disconnected(kPatience));
}

TEST_F(AdoptSocket, ClosesTheDescriptorsWithTheQueuePairs) {
  const SocketIdentity client(sockets_.client), server(sockets_.server);
  {
    Side side;
    QueuePair a = side.make_qp(), b = side.make_qp();
    std::thread responder([&] {
      auto request = side.device.await_request(sockets_.server);
      ASSERT_TRUE(request);
      EXPECT_TRUE(request->accept(b));
    });
    EXPECT_TRUE(a.adopt(sockets_.client));
    responder.join();
    EXPECT_TRUE(client.is_open() && server.is_open());
  }
  EXPECT_TRUE(eventually([&] { return !client.is_open() && !server.is_open(); }));
}

TEST_F(AdoptSocket, ComesBackToBothEndsAfterARejection) {
  const int client = sockets_.client.descriptor(), server = sockets_.server.descriptor();
  StreamingSocket kept;
  const auto outcome = adopt_against(answering([&](ConnectionRequest& request) {
                                       auto rejected = request.reject_and_keep(octets("not now"));
                                       ASSERT_TRUE(rejected) << rejected.error().message;
                                       kept = std::move(*rejected);
                                     }),
                                     giving_back());
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, std::errc::connection_refused);
  EXPECT_EQ(sockets_.client.descriptor(), client);
  EXPECT_EQ(kept.descriptor(), server);
  EXPECT_TRUE(kept.already_read().empty());
  EXPECT_EQ(::fcntl(client, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(::fcntl(server, F_GETFL) & O_NONBLOCK, 0);
  expect_streaming(client, server);
  EXPECT_EQ(client_qp_.state(), QpState::kError);
  EXPECT_EQ(server_qp_.state(), QpState::kIdle);

  // And MPA may be tried again, with other queue pairs.
  QueuePair again = client_.make_qp();
  std::thread responder([&] {
    auto request = server_.device.await_request(kept);
    ASSERT_TRUE(request);
    EXPECT_TRUE(request->accept(server_qp_));
  });
  EXPECT_TRUE(again.adopt(sockets_.client));
  responder.join();
  expect_message(client_, again, server_, server_qp_);
}

TEST_F(AdoptSocket, ClosesARejectedConnectionUnlessAskedToKeepIt) {
  const SocketIdentity client(sockets_.client), server(sockets_.server);
  const auto outcome =
      adopt_against(answering([](ConnectionRequest& request) { EXPECT_TRUE(request.reject()); }));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, std::errc::connection_refused);
  EXPECT_FALSE(sockets_.client);
  EXPECT_TRUE(eventually([&] { return !client.is_open() && !server.is_open(); }));
}

TEST_F(AdoptSocket, KeepsTheConnectionOfAListenersRequestToo) {
  auto listener = must(server_.device.listen({Address::loopback(), 0}));
  StreamingSocket kept;
  std::thread rejecter([&] {
    auto request = listener.next(kPatience);
    ASSERT_TRUE(request);
    auto rejected = request->reject_and_keep();
    ASSERT_TRUE(rejected);
    kept = std::move(*rejected);
  });
  std::promise<StreamingSocket> given;
  QpOptions options;
  options.on_event = [&](const ConnectionEvent& event) {
    ASSERT_EQ(event.kind, ConnectionEvent::Kind::kRejected);
    ASSERT_NE(event.socket, nullptr);
    given.set_value(std::move(*event.socket));
  };
  QueuePair qp = client_.make_qp(options);
  EXPECT_EQ(qp.connect(listener.endpoint(), giving_back()).error().code,
            std::errc::connection_refused);
  rejecter.join();
  const StreamingSocket socket = given.get_future().get();
  send_all(socket.descriptor(), octets("over the old connection"));
  Bytes some(23);
  EXPECT_TRUE(eventually([&] {  // a socket that the library made is left non-blocking
    return ::recv(kept.descriptor(), some.data(), some.size(), MSG_PEEK) == 23;
  }));
  EXPECT_EQ(receive_all(kept.descriptor(), 23), octets("over the old connection"));
}

TEST_F(AdoptSocket, HasAnEventDrivenForm) {
  std::promise<StreamingSocket> of_client, of_server;
  QpOptions options;
  options.on_event = [&](const ConnectionEvent& event) {
    EXPECT_EQ(event.kind, ConnectionEvent::Kind::kRejected);
    EXPECT_EQ(event.info.private_data, octets("no"));
    ASSERT_NE(event.socket, nullptr);
    of_client.set_value(std::move(*event.socket));
  };
  QueuePair qp = client_.make_qp(options);
  auto wait = server_.device.start_await_request(
      sockets_.server, {}, [&](Outcome<ConnectionRequest> request) {
        ASSERT_TRUE(request);
        ASSERT_TRUE(
            request->start_reject_and_keep(octets("no"), [&](Outcome<StreamingSocket> kept) {
              ASSERT_TRUE(kept);
              of_server.set_value(std::move(*kept));
            }));
      });
  ASSERT_TRUE(wait);
  ASSERT_TRUE(qp.start_adopt(sockets_.client, giving_back()));
  EXPECT_FALSE(sockets_.client || sockets_.server);
  sockets_.client = of_client.get_future().get();
  sockets_.server = of_server.get_future().get();
  expect_streaming(sockets_.client.descriptor(), sockets_.server.descriptor());

  std::promise<void> client_up, server_up;
  const auto raising = [](std::promise<void>& up) {
    QpOptions with;
    with.on_event = [&up](const ConnectionEvent& event) {
      if (event.kind == ConnectionEvent::Kind::kEstablished) up.set_value();
    };
    return with;
  };
  QueuePair a = client_.make_qp(raising(client_up)), b = server_.make_qp(raising(server_up));
  auto second = server_.device.start_await_request(sockets_.server, {},
                                                   [&](Outcome<ConnectionRequest> request) {
                                                     ASSERT_TRUE(request);
                                                     EXPECT_TRUE(request->start_accept(b));
                                                   });
  ASSERT_TRUE(second);
  ASSERT_TRUE(a.start_adopt(sockets_.client));
  ASSERT_EQ(client_up.get_future().wait_for(kPatience), std::future_status::ready);
  ASSERT_EQ(server_up.get_future().wait_for(kPatience), std::future_status::ready);
  expect_message(client_, a, server_, b);
}

TEST_F(AdoptSocket, RefusesWrongDescriptorsAtOnceAndLeavesThem) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  constexpr int kClosed = 900'000;  // beyond every limit
  int local[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, local), 0);
  const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(::listen(listening, 1), 0);
  const struct {
    int descriptor;
    std::errc code;
    const char* reason;
  } cases[] = {
      {-1, std::errc::bad_file_descriptor, "no open descriptor"},
      {kClosed, std::errc::bad_file_descriptor, "no open descriptor"},
      {pipe_ends[0], std::errc::not_a_socket, "no socket"},
      {local[0], std::errc::wrong_protocol_type, "no TCP socket"},
      {::socket(AF_INET, SOCK_DGRAM, 0), std::errc::wrong_protocol_type, "no TCP socket"},
      {::socket(AF_INET, SOCK_STREAM, 0), std::errc::not_connected, "not connected"},
      {listening, std::errc::not_connected, "not connected"},
  };
  for (const auto& one : cases) {
    const std::string name = "descriptor " + std::to_string(one.descriptor);
    StreamingSocket socket(one.descriptor, octets("kept"));
    const auto check = [&](const Error& error) {
      EXPECT_EQ(error.code, one.code) << error.message;
      EXPECT_THAT(error.message, HasSubstr(name));
      EXPECT_THAT(error.message, HasSubstr(one.reason));
      EXPECT_EQ(socket.descriptor(), one.descriptor);
      EXPECT_EQ(socket.already_read(), octets("kept"));
    };
    const auto adopted = client_qp_.adopt(socket);
    ASSERT_FALSE(adopted);
    check(adopted.error());
    const auto awaited = server_.device.await_request(socket);
    ASSERT_FALSE(awaited);
    check(awaited.error());
    if (one.descriptor == kClosed) static_cast<void>(socket.release());
  }
  ::close(pipe_ends[1]);
  ::close(local[1]);
  EXPECT_EQ(client_qp_.state(), QpState::kIdle);
}

TEST_F(AdoptSocket, LeavesTheSocketToItsOwnerIfTheQueuePairIsNotIdle) {
  LoopbackPair busy;
  const auto adopted = busy.client_qp.adopt(sockets_.client);
  ASSERT_FALSE(adopted);
  EXPECT_EQ(adopted.error().code, std::errc::already_connected);
  EXPECT_THAT(adopted.error().message, HasSubstr(std::to_string(busy.client_qp.number())));
  ConnectOptions wrong;
  wrong.private_data.resize(600);
  EXPECT_EQ(client_qp_.adopt(sockets_.client, wrong).error().code, std::errc::invalid_argument);
  ASSERT_TRUE(sockets_.client);
  EXPECT_EQ(::fcntl(sockets_.client.descriptor(), F_GETFL) & O_NONBLOCK, 0);
  expect_streaming(sockets_.client.descriptor(), sockets_.server.descriptor());
}

TEST_F(AdoptSocket, TimesOutAndClosesInEitherRole) {
  const SocketIdentity client(sockets_.client);
  ConnectOptions options = giving_back();
  options.timeout = 30ms;
  const auto adopted = client_qp_.adopt(sockets_.client, options);
  ASSERT_FALSE(adopted);
  EXPECT_EQ(adopted.error().code, std::errc::timed_out);
  EXPECT_FALSE(sockets_.client);
  EXPECT_TRUE(eventually([&] { return !client.is_open(); }));

  Sockets other;
  const SocketIdentity server(other.server);
  AwaitOptions awaiting;
  awaiting.timeout = 30ms;
  const auto awaited = server_.device.await_request(other.server, awaiting);
  ASSERT_FALSE(awaited);
  EXPECT_EQ(awaited.error().code, std::errc::timed_out);
  EXPECT_TRUE(eventually([&] { return !server.is_open(); }));
}

TEST_F(AdoptSocket, TellsAPeerThatHasGone) {
  sockets_.server = {};
  const auto adopted = client_qp_.adopt(sockets_.client);
  ASSERT_FALSE(adopted);
  EXPECT_EQ(adopted.error().code, std::errc::connection_reset) << adopted.error().message;

  Sockets other;
  other.client = {};
  const auto awaited = server_.device.await_request(other.server);
  ASSERT_FALSE(awaited);
  EXPECT_EQ(awaited.error().code, std::errc::connection_reset) << awaited.error().message;
}

TEST_F(AdoptSocket, ClosesWhatIsGivenUp) {
  const SocketIdentity client(sockets_.client), server(sockets_.server);
  ASSERT_TRUE(client_qp_.start_adopt(sockets_.client, giving_back()));
  client_qp_.abort();
  {
    auto wait = server_.device.start_await_request(sockets_.server, {}, [](auto) {});
    ASSERT_TRUE(wait);
  }
  EXPECT_TRUE(eventually([&] { return !client.is_open() && !server.is_open(); }));
}

TEST_F(AdoptSocket, MayBeGivenUpAtAnyTime) {
  const auto before = open_descriptors();
  for (int i = 0; i < 60 * kEffort; ++i) {
    Sockets sockets;
    QueuePair a = client_.make_qp();
    const auto b = std::make_shared<QueuePair>(server_.make_qp());
    auto wait = server_.device.start_await_request(
        sockets.server, {}, [b, i](Outcome<ConnectionRequest> request) {
          if (!request) return;
          EXPECT_TRUE(i % 3 == 0 ? request->start_accept(*b)
                                 : request->start_reject_and_keep({}, [](auto) {}));
        });
    ASSERT_TRUE(wait);
    ASSERT_TRUE(a.start_adopt(sockets.client, giving_back()));
    std::this_thread::sleep_for(std::chrono::microseconds(i * 7 % 400));
    if (i % 4 == 0) a.abort();
    if (i % 4 == 1) std::optional<RequestWait> gone(std::move(*wait));
  }
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= before + 8; }));
}

// Every end that a start-up can have, many times.
TEST_F(AdoptSocket, LeaksNoDescriptor) {
  const auto run = [&](int kind) {
    Sockets sockets;
    QueuePair a = client_.make_qp(), b = server_.make_qp();
    ConnectOptions options;
    options.after_rejection = kind % 2 == 0 ? AfterRejection::kGiveBack : AfterRejection::kClose;
    std::thread responder([&] {
      if (kind % 5 == 4) {
        sockets.server = {};
        return;
      }
      auto request = server_.device.await_request(sockets.server);
      if (!request) return;
      const bool answered = kind % 5 == 3 ||  // that is: not at all
                            (kind % 5 == 0 && request->accept(b)) ||
                            (kind % 5 == 1 && request->reject()) ||
                            (kind % 5 == 2 && request->reject_and_keep());
      EXPECT_TRUE(answered);
    });
    EXPECT_EQ(a.adopt(sockets.client, options).has_value(), kind % 5 == 0);
    responder.join();
  };
  run(0);  // what the devices need for themselves is open now
  const auto settled = open_descriptors();
  for (int kind = 0; kind < 40; ++kind) run(kind);
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= settled; }));
}

}  // namespace
}  // namespace iwarp::verbs::test
