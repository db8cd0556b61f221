// Live connections recorded: what is in the file afterwards, and what the connection feels of it.
#include "iwarp/tcp_offload/capture.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <thread>

#include "capture/recorder.hpp"
#include "iwarp/sim/mpa_device.hpp"
#include "iwarp/tcp_offload/kernel_device.hpp"
#include "mpa/naive_framer.hpp"
#include "support/log_lines.hpp"
#include "tcp_offload/capture_reader.hpp"
#include "tcp_offload/harness.hpp"

namespace iwarp::tcp_offload::test {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

// A client that is recorded and a server that is not, over loopback TCP.
class Capture : public ::testing::Test {
 protected:
  struct Connections {
    std::unique_ptr<Connection> client, server;
  };

  Connections connect() {
    auto acceptor = server_device->listen({boost::asio::ip::address_v4::loopback(), 0}, 16);
    EXPECT_TRUE(acceptor);
    Outcome accepted;
    Outcome connected;
    (*acceptor)->async_accept(accepted.connecting());
    const auto attempt =
        client_device->async_connect((*acceptor)->local_endpoint(), connected.connecting());
    run_until([&] { return accepted.calls + connected.calls == 2; });
    return {std::move(connected.connection), std::move(accepted.connection)};
  }
  void run_until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      context.restart();
      context.run_one_for(1ms);
    }
  }
  void write(Connection& connection, ConstBytes bytes) {
    Outcome written;
    connection.async_write(bytes, written.transfer());
    run_until([&] { return written.calls == 1; });
    EXPECT_FALSE(written.error);
  }
  void read(Connection& connection, std::size_t size) {
    std::vector<std::byte> into(size);
    Outcome done;
    connection.async_read(into, done.transfer());
    run_until([&] { return done.calls == 1; });
    EXPECT_EQ(done.octets, size);
  }
  // Sends everything; the other end has room for it, or is read by another thread.
  static void send(Stream& stream, ConstBytes bytes) {
    while (!bytes.empty()) {
      const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
      const Sent sent = stream.send({&piece, 1});
      ASSERT_NE(sent.status, IoStatus::kLost);
      bytes = bytes.subspan(sent.accepted);
    }
  }
  // Receives `size` octets, or until the end; returns how that ended, or kOk.
  static IoStatus receive(Stream& stream, std::size_t size) {
    std::vector<std::byte> room(5000);
    while (size != 0) {
      const Received got = stream.receive(MutableBytes(room).first(std::min(size, room.size())));
      if (got.status == IoStatus::kEndOfStream || got.status == IoStatus::kLost) return got.status;
      size -= got.data.size();
      stream.consume(got.data.size());
    }
    return IoStatus::kOk;
  }
  static IoStatus receive_to_end(Stream& stream) { return receive(stream, SIZE_MAX); }

  /// The one file there is, when its device has gone.
  std::vector<Packet> only_capture() {
    client_device.reset();
    server_device.reset();
    const auto files = directory.files();
    EXPECT_EQ(files.size(), 1U);
    return files.empty() ? std::vector<Packet>{} : packets_of(read_file(files.front()));
  }

  const ScratchDirectory directory;
  boost::asio::io_context context{1};
  KernelDevice kernel{context};
  std::optional<CaptureDevice> client_device{std::in_place, kernel, directory.path()};
  std::optional<CaptureDevice> server_device{std::in_place, kernel, ""};
};

TEST_F(Capture, HoldsTheStartUpAndBothDirectionsOfTheStream) {
  const auto request = pattern(300, 1);
  const auto reply = pattern(20, 2);
  const auto there = pattern(1'000'000, 3);
  const auto back = pattern(400'000, 4);
  {
    auto [client, server] = connect();
    write(*client, request);
    read(*server, request.size());
    write(*server, reply);
    read(*client, reply.size());
    const auto near = client->hand_over({});
    const auto far = server->hand_over({});
    std::thread reader([&] { receive(*far, there.size()); });
    send(*near, there);
    reader.join();
    std::thread writer([&] { send(*far, back); });
    receive(*near, back.size());
    writer.join();
    near->shutdown_send();
    EXPECT_EQ(receive_to_end(*far), IoStatus::kEndOfStream);
    far->shutdown_send();
    EXPECT_EQ(receive_to_end(*near), IoStatus::kEndOfStream);
  }
  const auto packets = only_capture();
  auto sent = request;
  sent.insert(sent.end(), there.begin(), there.end());
  auto received = reply;
  received.insert(received.end(), back.begin(), back.end());
  EXPECT_EQ(carried(packets, true), sent);
  EXPECT_EQ(carried(packets, false), received);
  EXPECT_EQ(packets.front().flags, kSyn);
  EXPECT_TRUE(packets.front().outbound);
  EXPECT_EQ(packets.back().flags, kFin | kAck);
  EXPECT_FALSE(packets.back().outbound);
  for (std::size_t i = 1; i < packets.size(); ++i) {
    EXPECT_LE(packets[i - 1].time, packets[i].time);
    EXPECT_TRUE(packets[i].good_checksums);
  }
}

TEST_F(Capture, BothHalvesMayBeBusyAtOnce) {
  const auto bytes = pattern(3'000'000);
  {
    auto [client, server] = connect();
    const auto near = client->hand_over({});
    const auto far = server->hand_over({});
    std::thread threads[] = {std::thread([&] { send(*near, bytes); }),
                             std::thread([&] { receive(*near, bytes.size()); }),
                             std::thread([&] { send(*far, bytes); })};
    receive(*far, bytes.size());
    for (auto& thread : threads) thread.join();
  }
  const auto packets = only_capture();
  EXPECT_EQ(carried(packets, true), bytes);
  EXPECT_EQ(carried(packets, false), bytes);
}

TEST_F(Capture, IsNamedAfterProcessAndEndpoints) {
  auto [client, server] = connect();
  const std::string expected = "iwarp-" + std::to_string(::getpid()) + "-" +
                               std::to_string(client->local().port()) + "-127.0.0.1-" +
                               std::to_string(client->remote().port()) + "-";
  client.reset();
  only_capture();
  const std::string name = directory.files().front().filename();
  EXPECT_TRUE(name.starts_with(expected) && name.ends_with(".pcapng")) << name;
  const auto rights = std::filesystem::status(directory.files().front()).permissions();
  EXPECT_EQ(rights & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
            std::filesystem::perms::none);
}

TEST_F(Capture, OctetsHandedOverAppearOnce) {
  {
    auto [client, server] = connect();
    write(*server, pattern(50));
    read(*client, 50);
    const auto near = client->hand_over(ConstBytes(pattern(50)).subspan(20));
    EXPECT_EQ(receive(*near, 30), IoStatus::kOk);
    const auto far = server->hand_over({});
    send(*far, pattern(70));
    EXPECT_EQ(receive(*near, 70), IoStatus::kOk);
  }
  auto expected = pattern(50);
  const auto rest = pattern(70);
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_EQ(carried(only_capture(), false), expected);
}

// Below a device that knows MPA nothing is recorded: what was read before the hand-over has Markers
// and CRCs, what the stream lends has none.
TEST_F(Capture, HoldsWhatTheDeviceLeavesToThisHost) {
  const auto ulpdu = pattern(700);
  mpa::test::NaiveFramer on_wire(mpa::Crc::kOn, mpa::Markers::kOn);
  mpa::test::NaiveFramer left(mpa::Crc::kOff, mpa::Markers::kOff);
  on_wire.frame(ulpdu);
  left.frame(ulpdu);
  const ConstBytes early = ConstBytes(on_wire.stream()).first(600);
  MpaDevice mpa(kernel, Offload::kCrc | Offload::kMarkers);
  client_device.emplace(mpa, directory.path());
  {
    auto [client, server] = connect();
    write(*server, early);
    read(*client, early.size());
    const auto near =
        client->hand_over(early, {.crc = true, .markers_sent = true, .markers_received = true});
    const auto far = server->hand_over({});
    send(*far, ConstBytes(on_wire.stream()).subspan(early.size()));
    EXPECT_EQ(receive(*near, left.stream().size()), IoStatus::kOk);
    send(*near, left.stream());
    EXPECT_EQ(receive(*far, on_wire.stream().size()), IoStatus::kOk);
  }
  const auto packets = only_capture();
  std::vector<std::byte> expected(early.begin(), early.end());
  expected.insert(expected.end(), left.stream().begin() + 600 - 2 * 4, left.stream().end());
  EXPECT_EQ(carried(packets, false), expected);
  EXPECT_EQ(carried(packets, true), left.stream());
}

TEST_F(Capture, AskedForAfterTheRequestStillHoldsTheRequest) {
  client_device.emplace(kernel, "");
  {
    auto [client, server] = connect();
    write(*client, pattern(300, 1));
    read(*server, 300);
    begin_capture(*server, directory.path());
    begin_capture(*server, directory.path());
    begin_capture(*client, directory.path());  // was connected, not accepted: it is not there
    write(*server, pattern(20, 2));
    const auto far = server->hand_over({});
    send(*far, pattern(10, 3));
  }
  const auto packets = only_capture();
  EXPECT_EQ(carried(packets, false), pattern(300, 1));
  EXPECT_EQ(carried(packets, true).size(), 30U);
  EXPECT_FALSE(packets.front().outbound) << "the peer opened it";
}

TEST_F(Capture, ConnectionThatNobodyWantsRecordedLeavesItsRecorderBehind) {
  client_device.emplace(kernel, "");
  auto [client, server] = connect();
  write(*client, pattern(100'000));
  const auto near = client->hand_over({});
  read(*server, 100'000);
  begin_capture(*server, "");
  begin_capture(*server, directory.path());  // too late: it is not all there any more
  const auto far = server->hand_over({});
  const Stream& one = *near;
  const Stream& other = *far;
  EXPECT_EQ(typeid(one), typeid(other));
  EXPECT_TRUE(directory.files().empty());
}

TEST_F(Capture, AnAbortIsAResetOfThisEnd) {
  {
    auto [client, server] = connect();
    const auto near = client->hand_over({});
    near->abort();
    EXPECT_EQ(receive_to_end(*near), IoStatus::kLost);
  }
  const auto packets = only_capture();
  EXPECT_EQ(packets.back().flags, kRst | kAck);
  EXPECT_TRUE(packets.back().outbound);
}

TEST_F(Capture, AResetByThePeerIsItsReset) {
  {
    auto [client, server] = connect();
    const auto near = client->hand_over({});
    server->hand_over({})->abort();
    EXPECT_EQ(receive_to_end(*near), IoStatus::kLost);
  }
  const auto packets = only_capture();
  EXPECT_EQ(packets.back().flags, kRst | kAck);
  EXPECT_FALSE(packets.back().outbound);
}

TEST_F(Capture, IsInTheFileSoonWhileTheConnectionRests) {
  auto [client, server] = connect();
  write(*client, pattern(77));
  run_until([&] {
    const auto files = directory.files();
    return !files.empty() && carried(packets_of(read_file(files.front())), true) == pattern(77);
  });
}

TEST_F(Capture, DirectoryThatIsNotThereEndsTheCaptureAlone) {
  const iwarp::test::LogLines log;
  client_device.emplace(kernel, directory.path() + "/nowhere");
  {
    auto [client, server] = connect();
    write(*client, pattern(10));
    run_until([&] { return log.size() == 1; });
    const auto near = client->hand_over({});
    const auto far = server->hand_over({});
    send(*near, pattern(100'000));
    EXPECT_EQ(receive(*far, 100'010), IoStatus::kOk);
  }
  client_device.reset();
  ASSERT_EQ(log.size(), 1U);
  EXPECT_NE(log.all()[0].find("No such file or directory"), std::string::npos) << log.all()[0];
}

TEST_F(Capture, FullDiskEndsTheCaptureAfterAWholeBlockAndNotTheConnection) {
  const iwarp::test::LogLines log;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{2'500'001, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto bytes = pattern(10'000'000);
  {
    auto [client, server] = connect();
    const auto near = client->hand_over({});
    const auto far = server->hand_over({});
    std::thread reader([&] { EXPECT_EQ(receive(*far, bytes.size()), IoStatus::kOk); });
    send(*near, bytes);
    reader.join();
  }
  const auto recorded = carried(only_capture(), true);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_EQ(log.size(), 1U);
  EXPECT_NE(log.all()[0].find("File too large"), std::string::npos) << log.all()[0];
  EXPECT_LT(recorded.size(), bytes.size());
  EXPECT_TRUE(std::equal(recorded.begin(), recorded.end(), bytes.begin()));
}

// As do programs that destroy nothing, and those whose last handle a thread of ours drops.
TEST_F(Capture, IsWholeWhenTheProcessEndsAtOnce) {
  const auto bytes = pattern(1000);
  const auto record_and_exit = [&] {
    CaptureDevice device(kernel, directory.path());
    auto acceptor = kernel.listen({boost::asio::ip::address_v4::loopback(), 0}, 16);
    Outcome connected;
    const auto attempt =
        device.async_connect((*acceptor)->local_endpoint(), connected.connecting());
    run_until([&] { return connected.calls == 1; });
    const auto stream = connected.connection->hand_over({});
    send(*stream, bytes);
    std::exit(0);
  };
  EXPECT_EXIT(record_and_exit(), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(carried(only_capture(), true), bytes);
}

// A writer that has stopped stands for a disk that takes nothing.
TEST_F(Capture, WhatCannotBeWrittenInASecondEndsTheCapture) {
  const iwarp::test::LogLines log;
  const auto writer = capture::Writer::make();
  writer->stop();
  const Endpoint end(boost::asio::ip::address_v4::loopback(), 1);
  const auto recorder =
      std::make_shared<capture::Recorder>(writer, end, end, capture::Opener::kLocal);
  recorder->start(directory.path());
  const auto bytes = pattern(1'000'000);
  for (int i = 0; i < 20; ++i) recorder->received(bytes);
  EXPECT_EQ(log.size(), 0U) << "nobody logs on the data path";
  recorder->left();
  ASSERT_EQ(log.size(), 1U);
  EXPECT_NE(log.all()[0].find("as fast as it grows"), std::string::npos) << log.all()[0];
  const std::size_t recorded = carried(only_capture(), false).size();
  EXPECT_GE(recorded, 8'000'000U);
  EXPECT_LT(recorded, 10'000'000U);
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
