#include <gmock/gmock.h>

#include <bit>

#include "agent_support.hpp"

/// What the agent answers to testers that are wrong, that go, or that are one too many.
namespace iwarp::conform {
namespace {

using ::testing::HasSubstr;

class AgentErrors : public AgentTest {
 protected:
  /// The code of the answer, "ok" if it is none of an error.
  std::string code_of(const std::string& command) {
    try {
      agent_.call(command, kPatience);
    } catch (const AgentError& error) {
      return error.code;
    }
    return "ok";
  }
};

TEST_F(AgentErrors, SaysWhatItIs) {
  EXPECT_EQ(agent_.name(), "iwarp");
  for (const std::string_view feature : agent_protocol::kFeatures) {
    EXPECT_TRUE(agent_.features().contains(feature)) << feature;
  }
  const Answer hello = agent_.call("hello version=1");
  EXPECT_GE(hello.number("max_message"), 1U << 20);
  EXPECT_EQ(hello.text("order"), std::endian::native == std::endian::little ? "little" : "big");
}

TEST_F(AgentErrors, AnotherVersionIsRefused) {
  EXPECT_EQ(code_of("hello version=2"), "EPROTONOSUPPORT");
}

TEST_F(AgentErrors, WrongCommandsAreInvalidAndDoNothing) {
  agent_.region(64, "local_write");  // region 1
  agent_.listen();
  agent_.call("dial address=127.0.0.1 port=1");  // endpoint 2
  for (const char* command : {
           "",
           "restart",
           "reset now=1",
           "hello",
           "hello version=one",
           "await",
           "await ms=3600001",
           "listen ird=65536",
           "listen crc=yes",
           "listen crc=2",
           "accept endpoint=2",
           "reject endpoint=2",
           "accept endpoint=9",
           "dial address=localhost port=1",
           "dial address=127.0.0.1 port=65536",
           "dial address=127.0.0.1",
           "connect endpoint=2 private=123",
           "event endpoint=9 ms=0",
           "disconnect endpoint=9",
           "close endpoint=9",
           "close endpoint=-1",
           "region size=1",
           "region size=1 access=write",
           "region size=1 access=",
           "region size=1 access=local_write,",
           "region size=1 access=remote_write",
           "region size=1 access=none fill=0102",
           "deregister region=9",
           "window endpoint=2 region=1 offset=0 length=65 access=remote_read",
           "window endpoint=2 region=1 offset=0 length=64 access=local_write",
           "window endpoint=2 region=9 offset=0 length=64 access=remote_read",
           "window endpoint=9 region=1 offset=0 length=64 access=remote_read",
           "fetch region=1 offset=0 length=65",
           "fetch region=1 offset=65 length=0",
           "fetch region=1 offset=18446744073709551615 length=1",
           "fetch region=1 offset=1 length=18446744073709551615",
           "fetch region=9 offset=0 length=1",
           "store region=1 offset=64 data=00",
           "store region=1 offset=18446744073709551615 data=0000",
           "receive endpoint=2 id=1 region=1 offset=1 length=64",
           "receive endpoint=9 id=1 region=1 offset=0 length=64",
           "receive endpoint=2 region=1 offset=0 length=64",
           "post endpoint=2 id=1 op=sent region=1 offset=0 length=1",
           "post endpoint=2 id=1 op=send region=1 offset=0 length=1 stag=0x1",
           "post endpoint=2 id=1 op=send region=1 offset=0 length=65",
           "post endpoint=2 id=1 op=send_inv region=1 offset=0 length=1",
           "post endpoint=2 id=1 op=write region=1 offset=0 length=1 stag=1 address=0x0",
           "post endpoint=2 id=1 op=write region=1 offset=0 length=1 stag=0x100000000 address=0x0",
           "post endpoint=2 id=1 op=fetch_add region=1 offset=0 length=8 stag=0x1 address=0x0",
           "post endpoint=2 id=1 op=imm immediate=00",
           "post endpoint=2 id=1 op=imm immediate=0000000000000000 region=1 offset=0 length=0",
           "completion endpoint=2",
           "completion endpoint=9 ms=0",
       }) {
    EXPECT_EQ(code_of(command), "EINVAL") << command;
  }
  const Region region{.id = 1, .size = 64};
  EXPECT_EQ(agent_.fetch(region, 0, 64), Octets(64, 0));
}

TEST_F(AgentErrors, NothingIsAwaitedWithoutAListener) {
  EXPECT_EQ(code_of("await ms=0"), "EINVAL");
}

TEST_F(AgentErrors, WaitsEnd) {
  agent_.listen();
  agent_.call("dial address=127.0.0.1 port=1");
  EXPECT_EQ(code_of("await ms=20"), "ETIMEDOUT");
  EXPECT_EQ(agent_.call("event endpoint=1 ms=20").text("event"), "none");
  EXPECT_EQ(agent_.call("completion endpoint=1 ms=20").text("completion"), "none");
}

TEST_F(AgentErrors, SendsNeedAConnection) {
  agent_.region(64, "none");
  agent_.call("dial address=127.0.0.1 port=1");
  EXPECT_EQ(code_of("post endpoint=2 id=1 op=send region=1 offset=0 length=1"), "ENOTCONN");
  EXPECT_EQ(code_of("window endpoint=2 region=1 offset=0 length=1 access=remote_read"), "ENOTCONN");
}

TEST_F(AgentErrors, QueuesHoldSixtyFourRequestsAndMoreAreRefused) {
  agent_.region(64, "local_write");
  agent_.call("dial address=127.0.0.1 port=1");
  const auto receive = [&] {
    return code_of("receive endpoint=2 id=1 region=1 offset=0 length=1");
  };
  for (int i = 0; i < 64; ++i) ASSERT_EQ(receive(), "ok") << i;
  std::string code = "ok";
  for (int i = 0; code == "ok" && i < 100000; ++i) code = receive();
  EXPECT_EQ(code, "ENOMEM");
}

TEST_F(AgentErrors, RegionsTogetherHaveALimit) {
  EXPECT_EQ(code_of("region size=18446744073709551615 access=none"), "ENOMEM");
  EXPECT_EQ(code_of("region size=1073741825 access=none"), "ENOMEM");
}

TEST_F(AgentErrors, LinesThatAreTooLongArePassedOver) {
  EXPECT_EQ(code_of("reset " + std::string(300'000, 'x')), "EINVAL");
  EXPECT_EQ(code_of("reset"), "ok");
}

TEST_F(AgentErrors, LongestFetchAndStoreFitIntoALine) {
  const Region region = agent_.region(99'000, "local_write");
  const Octets data = pattern(99'000);
  agent_.store(region, 0, data);
  EXPECT_EQ(agent_.fetch(region, 0, 99'000), data);
}

TEST_F(AgentErrors, ResetMakesEverythingUnknown) {
  agent_.region(64, "none");
  agent_.call("dial address=127.0.0.1 port=1");
  agent_.reset();
  EXPECT_EQ(code_of("fetch region=1 offset=0 length=1"), "EINVAL");
  EXPECT_EQ(code_of("event endpoint=2 ms=0"), "EINVAL");
}

TEST_F(AgentErrors, ResetRejectsRequestsThatNobodyAwaited) {
  context_.listen();
  Stream stream = context_.dial();
  stream.send(context_.request());
  EXPECT_FALSE(stream.says_something());
  agent_.reset();
  EXPECT_TRUE(stream.expect_reply().rejected());
  EXPECT_EQ(code_of("await ms=0"), "ETIMEDOUT");
}

TEST_F(AgentErrors, ASecondTesterIsToldSo) {
  try {
    Agent(running_.address(), kPatience);
    ADD_FAILURE() << "it was served";
  } catch (const Unreachable& error) {
    EXPECT_THAT(error.what(), HasSubstr("EBUSY"));
  }
}

TEST(AgentServer, ReleasesEverythingWhenTheTesterGoes) {
  RunningAgent running;
  Transcript transcript;
  std::optional<Agent> agent(std::in_place, running.address(), kPatience);
  Context context(target_of(*agent), kLimits, transcript);
  Link link = context.link();
  const std::uint16_t port = agent->listen();
  agent.reset();
  link.stream.expect_end(Stream::Before::kAnything);
  // The next one finds nothing of it.
  Agent next(running.address(), kPatience);
  EXPECT_THROW(next.call("event endpoint=1 ms=0"), AgentError);
  EXPECT_THROW(Tcp::connect({"127.0.0.1", port}, kPatience), Unreachable);
}

TEST(AgentServer, StopsWaitingForATesterThatHasGone) {
  RunningAgent running;
  {
    Agent agent(running.address(), kPatience);
    agent.listen();
  }
  Tcp tester = Tcp::connect(running.address(), kPatience);
  ASSERT_TRUE(tester.send(octets("listen\nawait ms=3600000\n"), kPatience));
  std::this_thread::sleep_for(milliseconds(100));
  tester.close();
  EXPECT_NO_THROW(Agent(running.address(), kPatience));
}

TEST(AgentServer, OnceEndsWithItsFirstTester) {
  RunningAgent running({.once = true});
  Tcp::connect(running.address(), kPatience).close();  // not a tester: it says nothing
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_FALSE(running.ended());
  { Agent agent(running.address(), kPatience); }
  for (int i = 0; i < 500 && !running.ended(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_TRUE(running.ended());
}

TEST(AgentServer, ListensAgainOnAFixedPort) {
  std::uint16_t port = 0;
  {
    TcpListener free_port("127.0.0.1");
    port = free_port.port();
  }
  RunningAgent running({.iwarp_port = port});
  Agent agent(running.address(), kPatience);
  Transcript transcript;
  Context context(target_of(agent), kLimits, transcript);
  for (const char* options : {"ird=4", "ird=5", "ird=6"}) {
    context.link({.request = context.request(), .listen = options});
    EXPECT_EQ(agent.listen(), port);
  }
}

TEST(AgentServer, SurvivesWhatIsNoProtocol) {
  RunningAgent running;
  for (const Octets& garbage :
       {Octets(100'000, 0), Octets(300'000, '\n'), octets("GET / HTTP/1.1\r\n\r\n"),
        octets("region size=18446744073709551615 access=none\nreset"), pattern(50'000)}) {
    Tcp tester = Tcp::connect(running.address(), kPatience);
    // It may be told off before it has said all.
    tester.send(garbage, kPatience);
    tester.reset();
  }
  EXPECT_NO_THROW(Agent(running.address(), kPatience));
}

}  // namespace
}  // namespace iwarp::conform
