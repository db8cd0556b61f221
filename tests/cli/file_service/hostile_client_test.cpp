#include <atomic>
#include <list>
#include <optional>
#include <thread>

#include "cli/file_service/file_server.hpp"

/// Clients that speak RDMAP correctly and the file protocol wrongly, against a server of this
/// process. Each loses its connection and nothing else.
namespace iwarp::cli::file_service {
namespace {

class HostileClient : public FileServerTest {
 protected:
  /// The connection ends without another answer.
  static void expect_end(RawClient& client) { EXPECT_THROW(client.answer(), LinkLost); }

  /// A well-behaved client is served, and nothing unfinished is there.
  void expect_service() {
    const auto client = connect_client();
    const Fd source(::open((scratch_.path() / "file").c_str(), O_RDONLY));
    const Subject subject{"copy", "url", "file"};
    upload(*client, source, subject, HashKind::kSha256, [](std::uint64_t, std::uint64_t) {});
    EXPECT_EQ(scratch_.read("copy"), scratch_.read("file"));
    EXPECT_THAT(scratch_.names(), testing::ElementsAre("copy", "file"));
  }
};

Request open_put(std::uint64_t size) {
  return {.operation = Operation::kOpenPut, .position = size, .payload = bytes_of("new")};
}
Request open_get() { return {.operation = Operation::kOpenGet, .payload = bytes_of("file")}; }

TEST_F(HostileClient, WithGarbageForARequestIsDropped) {
  for (const std::string& garbage :
       {std::string(), std::string(1, 'x'), std::string(39, '\0'), std::string(kMaxRequest, 'I')}) {
    RawClient client = connect();
    client.send_bytes(bytes_of(garbage));
    expect_end(client);
  }
  expect_service();
}

TEST_F(HostileClient, WithRequestsOutsideAnOperationIsDropped) {
  for (const Request& request :
       {Request{.operation = Operation::kPutChunk, .buffer = {Stag{1}, 0, 1}},
        Request{.operation = Operation::kGetChunk, .buffer = {Stag{1}, 0, 1}},
        Request{.operation = Operation::kListMore, .buffer = {Stag{1}, 0, 1}},
        Request{.operation = Operation::kCommit}, Request{.operation = Operation::kFinish}}) {
    RawClient client = connect();
    client.send(request);
    expect_end(client);
  }
  expect_service();
}

TEST_F(HostileClient, WithAnOperationInsideAnotherIsDropped) {
  for (const Request& second : {open_put(5), open_get()}) {
    RawClient client = connect();
    EXPECT_EQ(client.ask(open_put(100)), Status::kOk);
    client.send(second);
    expect_end(client);
  }
  expect_service();
}

TEST_F(HostileClient, WithAChunkThatDoesNotContinueTheFileIsDropped) {
  for (const auto& [position, length] :
       {std::pair{1U, 10U}, {UINT32_MAX, 10U}, {0U, 101U}, {0U, kMaxChunk}}) {
    RawClient client = connect();
    EXPECT_EQ(client.ask(open_put(100)), Status::kOk);
    const auto region = client.offer(memory_);
    client.send({.operation = Operation::kPutChunk,
                 .buffer = region.remote(0, length),
                 .position = position});
    expect_end(client);
  }
  expect_service();
}

TEST_F(HostileClient, WithADescriptorThatIsNotItsOwnIsDropped) {
  const auto wrong_buffers = [](const verbs::RemoteBuffer& good) {
    return std::vector<verbs::RemoteBuffer>{{Stag{good.stag.value() ^ 0x100}, good.offset, 100},
                                            {Stag{good.stag.value() ^ 1}, good.offset, 100},
                                            {good.stag, good.offset - 1, 100},
                                            {good.stag, good.offset + good.length - 99, 100},
                                            {good.stag, UINT64_MAX - 50, 100}};
  };
  for (std::size_t i = 0; i < 5; ++i) {
    for (const bool put : {true, false}) {
      RawClient client = connect();
      EXPECT_EQ(client.ask(put ? open_put(100) : open_get()), Status::kOk);
      const auto region = client.offer(memory_);
      client.send({.operation = put ? Operation::kPutChunk : Operation::kGetChunk,
                   .buffer = wrong_buffers(region.remote())[i]});
      expect_end(client);
    }
  }
  expect_service();
}

TEST_F(HostileClient, ThatCommitsTooEarlyIsDropped) {
  RawClient client = connect();
  EXPECT_EQ(client.ask(open_put(100)), Status::kOk);
  client.send({.operation = Operation::kCommit});
  expect_end(client);
  expect_service();
}

TEST_F(HostileClient, WithTheWrongDigestGetsNoFile) {
  RawClient client = connect();
  Request open = open_put(100);
  open.hash = HashKind::kSha256;
  EXPECT_EQ(client.ask(open), Status::kOk);
  const auto region = client.offer(memory_);
  EXPECT_EQ(client.ask({.operation = Operation::kPutChunk, .buffer = region.remote(0, 100)}),
            Status::kOk);
  EXPECT_EQ(client.ask({.operation = Operation::kCommit,
                        .hash = HashKind::kSha256,
                        .payload = bytes_of(std::string(32, 'd'))}),
            Status::kHashMismatch);
  // The connection goes on.
  EXPECT_EQ(client.ask(open_get()), Status::kOk);
  expect_service();
}

TEST_F(HostileClient, ThatPostsNoReceivesIsDropped) {
  RawClient client = connect();
  client.stop_receiving();
  EXPECT_EQ(client.ask(open_get()), Status::kOk);
  const auto ask_on = [&] {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const auto region = client.offer(MutableBytes(memory_).first(1));
      client.ask({.operation = Operation::kGetChunk, .buffer = region.remote(), .position = i});
    }
  };
  EXPECT_THROW(ask_on(), LinkLost);
  expect_service();
}

TEST_F(HostileClient, ThatUsesAChunkAgainAfterItsAnswerIsDropped) {
  RawClient client = connect();
  EXPECT_EQ(client.ask(open_put(200)), Status::kOk);
  const auto region = client.offer(memory_);
  Request chunk{.operation = Operation::kPutChunk, .buffer = region.remote(0, 100)};
  EXPECT_EQ(client.ask(chunk), Status::kOk);
  chunk.position = 100;
  client.send(chunk);
  expect_end(client);
  expect_service();
}

TEST_F(HostileClient, ThatLeavesInTheMiddleLeavesNothing) {
  for (int i = 0; i < 20; ++i) {
    RawClient client = connect();
    EXPECT_EQ(client.ask(open_put(memory_.size())), Status::kOk);
    const auto region = client.offer(memory_);
    client.send({.operation = Operation::kPutChunk, .buffer = region.remote(0, kMaxChunk)});
  }
  expect_service();
}

// It is told so once.
TEST_F(HostileClient, ThatComesAndGoesWithoutAnythingAgainAndAgainHasToWait) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  int let_in = 0;
  while (has_room() && std::chrono::steady_clock::now() < deadline) ++let_in;
  EXPECT_GE(let_in, kBadEndsOfAnAttack);
  try {
    static_cast<void>(connect_client());
    FAIL() << "it was let in";
  } catch (const CommandError& error) {
    EXPECT_THAT(error.what(), testing::ContainsRegex("the peer (reset|closed) the connection"));
  }
}

// A server of two clients, whose transfers may rest for so long while it is full.
class FullServer : public FileServerTest {
 protected:
  explicit FullServer(std::chrono::milliseconds rest = std::chrono::hours(1))
      : FileServerTest(options(rest)) {}

  static ServerOptions options(std::chrono::milliseconds rest) {
    ServerOptions made;
    made.max_clients = 2;
    made.timeouts.stall_while_full = rest;
    return made;
  }
  /// Whether a client in the middle of its transfer gets on with it.
  bool is_served(RawClient& client) {
    const auto region = client.offer(memory_);
    try {
      return client.ask({.operation = Operation::kGetChunk, .buffer = region.remote(0, 100)}) ==
             Status::kOk;
    } catch (const LinkLost&) {
      return false;
    }
  }
  bool comes_to_have_room() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      if (has_room()) return true;
    }
    return false;
  }
};

TEST_F(FullServer, TurnsClientsAwayUntilOneLeaves) {
  RawClient first = connect();
  EXPECT_EQ(first.ask(open_get()), Status::kOk);
  {
    RawClient second = connect();
    EXPECT_EQ(second.ask(open_get()), Status::kOk);
    EXPECT_FALSE(has_room());
  }
  EXPECT_TRUE(comes_to_have_room());
  EXPECT_TRUE(is_served(first));
}

TEST_F(FullServer, IsNotKeptFullByThoseWhoAskNothing) {
  RawClient busy = connect();
  EXPECT_EQ(busy.ask(open_get()), Status::kOk);
  std::list<std::optional<RawClient>> silent;
  for (int i = 0; i < 5; ++i) silent.emplace_back().emplace(server_.endpoint());
  EXPECT_TRUE(has_room());
  EXPECT_THROW(silent.front()->answer(), LinkLost);
  EXPECT_TRUE(is_served(busy));
}

class FullServerOfLittlePatience : public FullServer {
 protected:
  FullServerOfLittlePatience() : FullServer(std::chrono::milliseconds(1)) {}
};

TEST_F(FullServerOfLittlePatience, IsNotKeptFullByTransfersThatRest) {
  RawClient first = connect(), second = connect();
  EXPECT_EQ(first.ask(open_get()), Status::kOk);
  EXPECT_EQ(second.ask(open_get()), Status::kOk);
  EXPECT_TRUE(comes_to_have_room());
  EXPECT_NE(is_served(first), is_served(second));
}

// A server with one buffer for strangers, whose transfers may rest.
class ServerWithOneBuffer : public FileServerTest {
 protected:
  using Time = std::chrono::milliseconds;
  /// How long a stranger stands in line at most, and how long a client may be silent.
  explicit ServerWithOneBuffer(Time long_in_line = std::chrono::hours(1),
                               Time silence = std::chrono::minutes(1))
      : FileServerTest(options(long_in_line, silence)) {}

  static ServerOptions options(Time long_in_line, Time silence) {
    ServerOptions made;
    made.buffers = 1;
    made.long_in_line = long_in_line;
    made.timeouts.idle = made.timeouts.stall = silence;
    made.timeouts.stall_while_full = std::chrono::hours(1);
    return made;
  }
  /// A client that has opened the file.
  RawClient opened() {
    RawClient client = connect();
    EXPECT_EQ(client.ask(open_get()), Status::kOk);
    return client;
  }
  void ask_for_chunk(RawClient& client, const verbs::MemoryRegion& region) {
    client.send({.operation = Operation::kGetChunk, .buffer = region.remote(0, 100)});
  }
};

TEST_F(ServerWithOneBuffer, GivesItToTheStrangersInTheirOrder) {
  std::optional<RawClient> first(opened());
  RawClient second = opened(), third = opened();
  const auto of_first = first->offer(memory_), of_second = second.offer(memory_),
             of_third = third.offer(memory_);
  ask_for_chunk(second, of_second);
  ask_for_chunk(third, of_third);
  ask_for_chunk(*first, of_first);
  EXPECT_EQ(first->answer(), Status::kOk);
  first.reset();
  EXPECT_EQ(second.answer(), Status::kOk);
  second.send(open_get());  // which ends it
  EXPECT_EQ(third.answer(), Status::kOk);
}

// Nor does its thread sleep on when the client has gone.
TEST_F(ServerWithOneBuffer, ForgetsTheStrangerThatLeavesTheLine) {
  std::optional<RawClient> first(opened()), second(opened());
  RawClient third = opened();
  const auto of_second = second->offer(memory_), of_third = third.offer(memory_);
  ask_for_chunk(*second, of_second);
  ask_for_chunk(third, of_third);
  second.reset();
  first.reset();
  EXPECT_EQ(third.answer(), Status::kOk);
}

TEST_F(ServerWithOneBuffer, EndsWhileStrangersStandInLine) {
  ServerOptions options = options_;
  options.timeouts.stall = std::chrono::seconds(5);  // for the clients that do not leave
  auto server = std::make_unique<Server>(require(verbs::Device::open(), "open"),
                                         Store::open(scratch_.path().string()),
                                         verbs::Endpoint(verbs::Address::loopback(), 0), options);
  std::jthread runs([&] { server->run(); });
  RawClient first(server->endpoint()), asks(server->endpoint()), silent(server->endpoint());
  for (RawClient* client : {&first, &asks, &silent}) {
    EXPECT_EQ(client->ask(open_get()), Status::kOk);
  }
  const auto region = asks.offer(memory_);
  ask_for_chunk(asks, region);
  stop();
  runs.join();
  std::jthread ends([&] { server.reset(); });
  EXPECT_EQ(asks.answer(), Status::kEnded);
  EXPECT_THROW(silent.answer(), LinkLost);
}

class ServerOfLittlePatience : public ServerWithOneBuffer {
 protected:
  ServerOfLittlePatience() : ServerWithOneBuffer(kLongInLine) {}
};

class ServerOfLittleSilence : public ServerWithOneBuffer {
 protected:
  ServerOfLittleSilence() : ServerWithOneBuffer(std::chrono::seconds(3), std::chrono::seconds(2)) {}
};

// The wait is longer than a client may be silent, and ends while the other transfer goes on.
TEST_F(ServerOfLittleSilence, LendsAnotherToOneThatHasWaitedForLong) {
  std::atomic<bool> enough{false};
  RawClient first = opened(), second = opened();
  const auto of_second = second.offer(std::span(memory_).subspan(kMaxChunk));
  ask_for_chunk(second, of_second);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::thread goes_on([&] {
    for (unsigned i = 0; !enough && std::chrono::steady_clock::now() < deadline; ++i) {
      const auto region = first.offer(memory_);
      EXPECT_EQ(
          first.ask(
              {.operation = Operation::kGetChunk, .buffer = region.remote(0, 1), .position = i}),
          Status::kOk);
    }
  });
  EXPECT_EQ(second.answer(), Status::kOk);
  enough = true;
  goes_on.join();
  EXPECT_LT(std::chrono::steady_clock::now(), deadline);
}

TEST_F(ServerOfLittlePatience, KeepsNoClientWaitingOfANetworkThatWasServed) {
  {
    RawClient served = connect();
    EXPECT_EQ(served.ask({.operation = Operation::kOpenGet, .payload = bytes_of("none")}),
              Status::kNotFound);
  }
  RawClient first = opened();
  const auto of_first = first.offer(memory_);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool waited = true;
  while (waited && std::chrono::steady_clock::now() < deadline) {  // until the end was noted
    RawClient second = opened();
    const auto of_second = second.offer(memory_);
    const auto asked = std::chrono::steady_clock::now();
    ask_for_chunk(second, of_second);
    EXPECT_EQ(second.answer(), Status::kOk);
    waited = std::chrono::steady_clock::now() - asked >= kLongInLine;
  }
  EXPECT_FALSE(waited);
}

}  // namespace
}  // namespace iwarp::cli::file_service
