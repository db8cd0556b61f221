#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/perf/process.hpp"

/// `iwarp perf` end to end, between processes. Nothing here is timed.
namespace iwarp::cli::perf {
namespace {

using Arguments = std::vector<std::string>;

Arguments perf_command(const Arguments& arguments) {
  Arguments command{IWARP_PROGRAM, "perf"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

struct Ended {
  std::optional<int> status;
  std::string output;
};

Ended run(const Arguments& arguments) {
  Process process(perf_command(arguments));
  std::string output = process.read_all();
  return {process.wait(), std::move(output)};
}

class PerfCommand : public testing::Test {
 protected:
  void SetUp() override {
    const std::string line = server_.read_line();
    address_ = line.substr(line.rfind(' ') + 1);
    ASSERT_TRUE(address_.starts_with("127.0.0.1:")) << line;
  }

  /// Runs a client for a moment and returns what it printed as JSON.
  nlohmann::json measure(Arguments arguments) {
    arguments.insert(arguments.begin(), address_);
    for (const char* more : {"--duration", "0.2", "--json"}) arguments.emplace_back(more);
    const Ended client = run(arguments);
    EXPECT_EQ(client.status, 0) << testing::PrintToString(arguments);
    const auto json = nlohmann::json::parse(client.output, nullptr, false);
    EXPECT_TRUE(json.is_object()) << client.output;
    return json;
  }

  Process server_{perf_command({"server", "--listen", "127.0.0.1:0"})};
  std::string address_;
};

void expect_rates(const nlohmann::json& flow, std::uint64_t size) {
  EXPECT_GT(flow.at("messages").get<std::uint64_t>(), 0U);
  EXPECT_EQ(flow.at("octets").get<std::uint64_t>(),
            flow.at("messages").get<std::uint64_t>() * size);
  EXPECT_GT(flow.at("bytes_per_second").get<double>(), 0);
  EXPECT_GT(flow.at("messages_per_second").get<double>(), 0);
  EXPECT_GE(flow.at("slices").size(), 3U);
  for (const char* end : {"client", "server"}) {
    EXPECT_GE(flow.at("cpu_seconds").at(end).at("all_threads").get<double>(), 0) << end;
    EXPECT_GE(flow.at("cpu_seconds").at(end).at("measuring_thread").get<double>(), 0) << end;
  }
}

void expect_latencies(const nlohmann::json& flow, const std::string& kind) {
  const auto& latency = flow.at("latency_us");
  EXPECT_EQ(latency.at("kind"), kind);
  EXPECT_EQ(latency.at("samples"), flow.at("messages"));
  double before = 0;
  for (const char* name : {"min", "median", "p90", "p99", "p99.9", "max"}) {
    EXPECT_GE(latency.at(name).get<double>(), before) << name;
    before = latency.at(name).get<double>();
  }
  EXPECT_GT(before, 0);
}

TEST_F(PerfCommand, MeasuresTheBandwidthOfEachOperation) {
  for (const std::string op : {"write", "read", "send"}) {
    SCOPED_TRACE(op);
    const auto json = measure({"--op", op, "--size", "4K", "--depth", "32"});
    EXPECT_EQ(json.at("op"), op);
    EXPECT_EQ(json.at("figure"), "bandwidth");
    EXPECT_EQ(json.at("size"), 4096);
    EXPECT_EQ(json.at("depth"), 32);
    EXPECT_EQ(json.at("waiting"), "polling");
    EXPECT_EQ(json.at("connection").at("crc"), true);
    expect_rates(json.at("ours"), 4096);
    EXPECT_FALSE(json.contains("baseline"));
  }
}

TEST_F(PerfCommand, PostsLists) {
  for (const std::string op : {"write", "read", "send"}) {
    for (const std::string list : {"1", "8", "32"}) {
      SCOPED_TRACE(op + " " + list);
      const auto json = measure({"--op", op, "--size", "64", "--depth", "32", "--list", list});
      EXPECT_EQ(json.at("list"), std::stoi(list));
      expect_rates(json.at("ours"), 64);
    }
  }
}

TEST_F(PerfCommand, MeasuresTheLatencyOfEachOperation) {
  for (const std::string op : {"write", "read", "send"}) {
    SCOPED_TRACE(op);
    const auto json = measure({"--op", op, "--size", "64", "--latency"});
    EXPECT_EQ(json.at("figure"), "latency");
    expect_latencies(json.at("ours"), op == "read" ? "round-trip" : "one-way");
  }
}

TEST_F(PerfCommand, ComparesBandwidthWithRawTcp) {
  for (const std::string op : {"write", "read", "send"}) {
    SCOPED_TRACE(op);
    const auto json = measure({"--op", op, "--size", "64K", "--baseline"});
    expect_rates(json.at("baseline"), 65536);
    EXPECT_TRUE(json.at("baseline").at("shape").is_string());
    const double ours = json.at("ours").at("bytes_per_second").get<double>();
    const double raw = json.at("baseline").at("bytes_per_second").get<double>();
    EXPECT_NEAR(json.at("ratio").get<double>(), ours / raw, 1e-6 * ours / raw);
  }
}

TEST_F(PerfCommand, ComparesLatencyWithRawTcp) {
  for (const std::string op : {"write", "read", "send"}) {
    SCOPED_TRACE(op);
    const auto json = measure({"--op", op, "--size", "64", "--latency", "--baseline"});
    expect_latencies(json.at("baseline"), op == "read" ? "round-trip" : "one-way");
    const double ours = json.at("ours").at("latency_us").at("median").get<double>();
    const double raw = json.at("baseline").at("latency_us").at("median").get<double>();
    EXPECT_NEAR(json.at("ratio").get<double>(), ours / raw, 1e-6 * ours / raw);
  }
}

TEST_F(PerfCommand, SleepsInsteadOfPollingWithEvents) {
  for (const Arguments& figure : std::vector<Arguments>{{"--op", "send", "--latency"},
                                                        {"--op", "read", "--latency"},
                                                        {"--op", "send"},
                                                        {"--op", "write"},
                                                        {"--op", "read"}}) {
    SCOPED_TRACE(testing::PrintToString(figure));
    Arguments arguments = figure;
    arguments.insert(arguments.end(), {"--events", "--baseline", "--size", "256"});
    EXPECT_EQ(measure(arguments).at("waiting"), "events");
  }
}

TEST_F(PerfCommand, NegotiatesCrcMarkersAndRevision) {
  const auto without = measure({"--op", "send", "--no-crc"});
  EXPECT_EQ(without.at("connection").at("crc"), false);
  const auto markers = measure({"--op", "write", "--markers"});
  EXPECT_EQ(markers.at("connection").at("markers_sent"), true);
  EXPECT_EQ(markers.at("connection").at("markers_received"), true);
  const auto old = measure({"--op", "read", "--mpa-revision", "1"});
  EXPECT_EQ(old.at("connection").at("mpa_revision"), 1);
}

// At both ends: a Read is answered by the server. What it does to the wire is a test of the wire.
TEST_F(PerfCommand, TakesFpdusOfAnySize) {
  Process large(perf_command({"server", "--listen", "127.0.0.1:0", "--max-fpdu", "64K"}));
  const std::string line = large.read_line();
  address_ = line.substr(line.rfind(' ') + 1);
  for (const char* op : {"write", "read", "send"}) {
    measure({"--op", op, "--size", "100K"});
    measure({"--op", op, "--size", "100K", "--max-fpdu", "16K", "--markers"});
  }
}

TEST_F(PerfCommand, CarriesTheSmallestAndLargeMessages) {
  measure({"--op", "send", "--size", "1", "--depth", "1"});
  measure({"--op", "send", "--size", "64", "--depth", "1024"});  // as long as a control message
  measure({"--op", "write", "--size", "4M", "--depth", "2"});
  measure({"--op", "read", "--size", "1", "--latency"});
}

// What the help permits: at each end of the range, for each operation and each way to measure.
TEST_F(PerfCommand, TakesEachDepthThatTheHelpPermits) {
  for (const std::string op : {"write", "read", "send"}) {
    expect_rates(measure({"--op", op, "--size", "64", "--depth", "1"}).at("ours"), 64);
    for (const std::string depth : {"8191", "8192"}) {
      for (const Arguments& mode : std::vector<Arguments>{{},
                                                          {"--list", depth},
                                                          {"--events"},
                                                          {"--latency"},
                                                          {"--baseline", "--stable-buffers"}}) {
        SCOPED_TRACE(op + " " + depth + " " + testing::PrintToString(mode));
        Arguments arguments{"--op", op, "--size", "64", "--depth", depth};
        arguments.insert(arguments.end(), mode.begin(), mode.end());
        expect_rates(measure(arguments).at("ours"), 64);
      }
    }
  }
  EXPECT_EQ(run({address_, "--depth", "8193"}).status, 2);
}

TEST_F(PerfCommand, ServesSeveralClientsAtOnce) {
  const Arguments client{address_, "--op", "send", "--events", "--duration", "0.5"};
  Process first(perf_command(client)), second(perf_command(client));
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
}

TEST_F(PerfCommand, SurvivesAClientThatIsKilled) {
  {
    Process client(perf_command({address_, "--op", "write", "--duration", "60"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    client.send_signal(SIGKILL);
    EXPECT_EQ(client.wait(), std::nullopt);
  }
  measure({"--op", "send"});
}

TEST_F(PerfCommand, SurvivesGarbage) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::socket socket(io);
  const auto port = static_cast<std::uint16_t>(std::stoi(address_.substr(10)));
  socket.connect({boost::asio::ip::make_address("127.0.0.1"), port});
  const std::string garbage(4096, 'x');
  boost::system::error_code ignored;
  boost::asio::write(socket, boost::asio::buffer(garbage), ignored);
  measure({"--op", "read"});
}

TEST_F(PerfCommand, StopsWithStatusZeroOnASignal) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Process server(perf_command({"server", "--listen", "127.0.0.1:0"}));
    EXPECT_NE(server.read_line(), "");
    server.send_signal(signal);
    EXPECT_EQ(server.wait(std::chrono::seconds(10)), 0) << signal;
  }
}

TEST(PerfCommandLine, WrongUsageEndsWithTwo) {
  const std::vector<Arguments> wrong{{},
                                     {"127.0.0.1:1", "--op", "fly"},
                                     {"127.0.0.1:1", "--size", "0"},
                                     {"127.0.0.1:1", "--size", "65M"},
                                     {"127.0.0.1:1", "--depth", "0"},
                                     {"127.0.0.1:1", "--duration", "-1"},
                                     {"127.0.0.1:1", "--list", "0"},
                                     {"127.0.0.1:1", "--depth", "32", "--list", "5"},
                                     {"127.0.0.1:1", "--depth", "32", "--list", "64"},
                                     {"127.0.0.1:1", "--latency", "--list", "1"},
                                     {"127.0.0.1:1", "--mpa-revision", "3"},
                                     {"127.0.0.1:1", "--op", "write", "--latency", "--events"},
                                     {"127.0.0.1:1", "--max-fpdu", "135"},
                                     {"127.0.0.1:1", "--max-fpdu", "65K"},
                                     {"server", "--max-fpdu", "0"},
                                     {"127.0.0.1:0"},
                                     {"127.0.0.1:1", "more"},
                                     {"server", "--op", "read"},
                                     {"server", "--listen", ""}};
  for (const Arguments& arguments : wrong) {
    EXPECT_EQ(run(arguments).status, 2) << testing::PrintToString(arguments);
  }
}

TEST(PerfCommandLine, AServerThatIsNotThereEndsWithOne) {
  EXPECT_EQ(run({"127.0.0.1:1", "--duration", "0.1"}).status, 1);
  EXPECT_EQ(run({"no-such-host.invalid", "--duration", "0.1"}).status, 1);
}

TEST(PerfCommandLine, AnAddressInUseEndsWithOne) {
  Process server(perf_command({"server", "--listen", "127.0.0.1:0", "--json"}));
  const auto json = nlohmann::json::parse(server.read_line(), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(run({"server", "--listen", json.at("listening").get<std::string>()}).status, 1);
}

TEST(PerfCommandLine, HelpTeaches) {
  const Ended help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.output.find("--baseline"), std::string::npos);
  EXPECT_NE(help.output.find("Example"), std::string::npos);
}

}  // namespace
}  // namespace iwarp::cli::perf
