#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <future>
#include <optional>
#include <set>

#include "support/log_lines.hpp"
#include "verbs/process/fork_support.hpp"

// A forked child: what it has inherited is its parent's, whatever the child does to it; what it
// opens is its own.
namespace iwarp::verbs::test {
namespace {

using iwarp::test::kSanitizer;
using iwarp::test::Pipe;
using iwarp::test::status_of_child;

// Reads and writes in a thread of its own, until it goes.
class Traffic {
 public:
  explicit Traffic(Stream& stream)
      : thread_([this, &stream] {
          while (!stop_.load() && stream.turn()) turns_.fetch_add(1);
        }) {}
  ~Traffic() {
    stop_.store(true);
    thread_.join();
  }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  /// Whether so many more turns come.
  bool goes_on(int turns = 20) {
    const int before = turns_.load();
    return eventually([&] { return turns_.load() >= before + turns; });
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> turns_{0};
  std::thread thread_;
};

// ---- Destruction ----

TEST(Fork, ChildrenThatDestroyEverythingInTheMiddleOfAStreamLeaveItToTheParent) {
  auto stream = std::make_unique<Stream>();
  Traffic traffic(*stream);
  for (int child = 0; child < 10 * kEffort; ++child) {
    ASSERT_TRUE(traffic.goes_on()) << "before child " << child;
    ASSERT_EQ(status_of_child([&] {
                stream.reset();
                return true;
              }),
              0)
        << "child " << child;
  }
  EXPECT_TRUE(traffic.goes_on(100));
  EXPECT_EQ(stream->pair.client_qp.state(), QpState::kRts);
}

TEST(Fork, ChildThatEndsTheConnectionDoesNotEndTheParents) {
  Stream stream;
  ASSERT_TRUE(stream.turn());
  EXPECT_EQ(status_of_child([&] {
              stream.pair.client_qp.disconnect();
              stream.pair.server_qp.abort();
              const QueuePair gone = std::move(stream.pair.client_qp);
              return true;
            }),
            0);
  EXPECT_TRUE(stream.turns(50));
}

TEST(Fork, ChildMayDestroyWhatAThreadOfTheParentWaitsAt) {
  auto stream = std::make_unique<Stream>();
  auto listener = std::make_unique<Listener>(must(stream->pair.server.device.listen(kAnyPort)));
  std::atomic<pid_t> threads[3]{};
  const auto waiter = [&threads](int number, auto wait) {
    return std::async(std::launch::async, [&threads, number, wait] {
      threads[number].store(gettid());
      return wait();
    });
  };
  auto request = waiter(0, [&] { return listener->next(kPatience).has_value(); });
  auto completion = waiter(1, [&] { return stream->pair.server.cq.wait(kPatience).has_value(); });
  auto end = waiter(2, [&] { return stream->pair.server_qp.wait_disconnected(kPatience); });
  ASSERT_TRUE(eventually([&] {
    return std::ranges::all_of(threads, [](auto& id) { return iwarp::test::sleeps(id.load()); });
  }));
  EXPECT_EQ(status_of_child([&] {
              listener.reset();
              stream.reset();
              return true;
            }),
            0);
  QueuePair another = stream->pair.client.make_qp();
  static_cast<void>(another.start_connect(listener->endpoint()));
  EXPECT_TRUE(request.get());
  const Sge to = stream->theirs.sge();
  ASSERT_TRUE(stream->pair.server_qp.post_receive({.wr_id = 1, .sges = {&to, 1}}));
  ASSERT_TRUE(stream->pair.client_qp.post_send(send_of(3, {})));
  EXPECT_TRUE(completion.get());
  stream->pair.client_qp.disconnect();
  EXPECT_TRUE(end.get());
}

TEST(Fork, ChildThatDropsARequestDoesNotAnswerIt) {
  AskedServer asked;
  auto request = asked.next();
  ASSERT_TRUE(request);
  EXPECT_EQ(status_of_child([&] {
              request.reset();
              return true;
            }),
            0);
  EXPECT_EQ(status_of_child([&] {
              const auto answer = request->start_accept(asked.server_qp);
              return !answer && answer.error().code == std::errc::no_such_device &&
                     request->reject().error().code == std::errc::no_such_device;
            }),
            0);
  EXPECT_TRUE(request->accept(asked.server_qp));
}

TEST(Fork, ChildThatDropsTheWaitForARequestDoesNotEndTheConnection) {
  Side server, client;
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor acceptor(io, kAnyPort);
  boost::asio::ip::tcp::socket one(io);
  one.connect(acceptor.local_endpoint());
  auto other = acceptor.accept();
  StreamingSocket by_client(one.release()), by_server(other.release());
  std::promise<bool> came;
  QueuePair theirs = server.make_qp();
  auto wait = std::make_unique<RequestWait>(must(
      server.device.start_await_request(by_server, {}, [&](Outcome<ConnectionRequest> request) {
        came.set_value(request && request->start_accept(theirs));
      })));
  EXPECT_EQ(status_of_child([&] {
              wait.reset();
              return true;
            }),
            0);
  QueuePair mine = client.make_qp();
  EXPECT_TRUE(mine.adopt(by_client));
  EXPECT_TRUE(came.get_future().get());
}

// ---- Calls ----

bool is_refused(const auto& outcome) {
  return !outcome && outcome.error().code == std::errc::no_such_device;
}

TEST(Fork, CallsOnWhatIsInheritedFail) {
  Stream stream;
  SharedReceiveQueue srq = must(stream.pair.client.pd.create_srq());
  QueuePair idle = stream.pair.client.make_qp();
  EXPECT_EQ(status_of_child([&] {
              Side& side = stream.pair.client;
              QueuePair& qp = stream.pair.client_qp;
              const Sge sge = stream.here.sge();
              std::byte memory[8];
              Completion completion;
              const ConnectOptions options;
              StreamingSocket none;
              return is_refused(side.device.alloc_pd()) && is_refused(side.device.create_cq(1)) &&
                     is_refused(side.device.listen(kAnyPort)) &&
                     is_refused(side.pd.register_memory(memory, Access::kNone)) &&
                     is_refused(side.pd.alloc_window(WindowType::k1)) &&
                     is_refused(side.pd.alloc_fast_region()) && is_refused(side.pd.create_srq()) &&
                     is_refused(side.pd.create_qp(side.cq)) &&
                     is_refused(stream.here.region->reregister(side.pd, memory, Access::kNone)) &&
                     is_refused(srq.post_receive(RecvWr{})) && is_refused(srq.arm_limit(1)) &&
                     is_refused(qp.post_send(send_of(1, {&sge, 1}))) &&
                     is_refused(qp.post_receive(RecvWr{})) && is_refused(idle.connect(kAnyPort)) &&
                     is_refused(idle.adopt(none)) && side.cq.poll({&completion, 1}) == 0 &&
                     is_refused(side.cq.resize(4)) && side.cq.event_descriptor() == -1 &&
                     side.cq.wait_descriptor() == -1 && !side.cq.begin_wait() &&
                     !side.cq.take_event() && qp.state() == QpState::kError &&
                     !qp.diagnosis().graceful && qp.info().remote == Endpoint();
            }),
            0);
  EXPECT_TRUE(stream.turns(20));
}

TEST(Fork, WaitsForWhatIsInheritedReturnAtOnce) {
  Stream stream;
  Listener listener = must(stream.pair.server.device.listen(kAnyPort));
  EXPECT_EQ(status_of_child([&] {
              constexpr auto kLonger = 1h;  // than a child has
              return !stream.pair.client.cq.wait(kLonger) && !listener.next(kLonger) &&
                     !stream.pair.client_qp.wait_disconnected(kLonger) &&
                     !stream.pair.client_qp.drain(kLonger) &&
                     !stream.pair.client.device.wait_async_event(kLonger);
            }),
            0);
  EXPECT_TRUE(stream.turns(20));
}

TEST(Fork, ChildOpensItsOwnWhileTheParentGoesOn) {
  if (kSanitizer) GTEST_SKIP() << iwarp::test::kNoThreadsInChildren;
  Stream stream;
  Traffic traffic(stream);
  ASSERT_TRUE(traffic.goes_on());
  EXPECT_EQ(status_of_child([&] {
              Stream own;
              // What is its own does not mix with what is not.
              const auto mixed = own.pair.client.pd.create_qp(stream.pair.client.cq);
              return own.turns(50) && is_refused(mixed);
            }),
            0);
  EXPECT_TRUE(traffic.goes_on());
}

// ---- Descriptors ----

// None if that is no socket.
std::optional<ino_t> socket_inode(int descriptor) {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0 || !S_ISSOCK(about.st_mode)) return std::nullopt;
  return about.st_ino;
}

// By their inodes: connections of earlier tests may still be on their way out, and go meanwhile.
std::set<ino_t> sockets_of_this_process() {
  std::set<ino_t> sockets;
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    if (const auto inode = socket_inode(descriptor)) sockets.insert(*inode);
  }
  return sockets;
}

auto sockets_that_came_after(const std::set<ino_t>& before) {
  return std::ranges::count_if(sockets_of_this_process(),
                               [&](ino_t socket) { return !before.contains(socket); });
}

TEST(Fork, ChildHasNoneOfTheSockets) {
  const auto before = sockets_of_this_process();
  Stream stream;
  const Listener listener = must(stream.pair.server.device.listen(kAnyPort));
  ASSERT_GE(sockets_that_came_after(before), 3);
  EXPECT_EQ(status_of_child([&] { return sockets_that_came_after(before) == 0; }), 0);
}

TEST(Fork, ChildKeepsTheSocketsThatWereGivenBack) {
  AskedServer asked;
  auto request = asked.next();
  ASSERT_TRUE(request);
  const StreamingSocket kept = must(request->reject_and_keep());
  EXPECT_EQ(status_of_child([&] { return socket_inode(kept.descriptor()).has_value(); }), 0);
}

// ---- The log ----

TEST(Fork, TheReasonIsToldOnce) {
  const iwarp::test::LogLines lines;
  Stream stream;
  EXPECT_EQ(status_of_child([&] {
              for (int i = 0; i < 3; ++i) static_cast<void>(stream.turn());
              static_cast<void>(stream.pair.client.device.alloc_pd());
              return lines.with("was forked").size() == 1 && lines.with("ENODEV").size() == 1;
            }),
            0);
  EXPECT_TRUE(lines.with("was forked").empty());
}

TEST(Fork, ChildThatOnlyEndsTellsNothing) {
  const iwarp::test::LogLines lines;
  auto stream = std::make_unique<Stream>();
  EXPECT_EQ(status_of_child([&] {
              stream.reset();
              return lines.with("was forked").empty();
            }),
            0);
}

// A sink that is slow: a thread that writes to it holds its lock.
class SlowSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::atomic<bool> inside{false}, go_on{false};

 private:
  void sink_it_(const spdlog::details::log_msg&) override {
    inside.store(true);
    inside.notify_all();
    go_on.wait(false);
  }
  void flush_() override {}
};

TEST(Fork, ChildDoesNotWaitForALoggerThatAThreadOfTheParentWasInside) {
  Stream stream;
  const auto sink = std::make_shared<SlowSink>();
  process::set_logger(std::make_shared<spdlog::logger>("slow", sink));
  std::thread writer([] { process::log(process::LogLevel::kWarn, "a line"); });
  sink->inside.wait(false);
  Pipe output;
  EXPECT_EQ(status_of_child([&] {
              ::dup2(output.writer(), STDERR_FILENO);
              return is_refused(stream.pair.client.device.alloc_pd());
            }),
            0);
  output.close_writer();
  EXPECT_NE(output.read_all().find("was forked"), std::string::npos);
  sink->go_on.store(true);
  sink->go_on.notify_all();
  writer.join();
  process::set_logger(nullptr);
}

}  // namespace
}  // namespace iwarp::verbs::test
