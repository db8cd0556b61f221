#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "iwarp/process/descriptor.hpp"
#include "src/patient_wait.hpp"
#include "support/forked_child.hpp"
#include "verbs/loopback_pair.hpp"
#include "verbs/startup_support.hpp"

/// Processes that are stopped (SIGSTOP) while they wait for a peer, on sockets.
namespace iwarp::verbs::test {
namespace {

using process::Descriptor;
using soft::test::Bytes;

constexpr auto kTime = 2s;
// Longer than that, and than what a blocking call may ever have waited beyond it.
constexpr auto kStop = 3500ms;

/// A listening socket, in a process without threads: children can be forked.
class PlainListener {
 public:
  PlainListener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof any;
    auto* const address = reinterpret_cast<sockaddr*>(&any);
    EXPECT_EQ(::bind(socket_.get(), address, size), 0);
    EXPECT_EQ(::listen(socket_.get(), 16), 0);
    EXPECT_EQ(::getsockname(socket_.get(), address, &size), 0);
    endpoint_ = {Address::loopback(), ntohs(any.sin_port)};
  }

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] Descriptor accept() const {
    return Descriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  Descriptor socket_;
  Endpoint endpoint_;
};

/// A child that connects, and tells by its exit status whether it has.
class ConnectingChild {
 public:
  explicit ConnectingChild(const PlainListener& to) : pid_(iwarp::test::fork_for(60)) {
    if (pid_ != 0) return;
    ConnectOptions options = soft::test::without_fall_back();
    options.timeout = kTime;
    Side side(16);
    QueuePair qp = side.make_qp();
    ::_exit(qp.connect(to.endpoint(), options) ? 0 : 1);
  }
  ~ConnectingChild() {
    if (over_) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ConnectingChild(const ConnectingChild&) = delete;
  ConnectingChild& operator=(const ConnectingChild&) = delete;

  void stop() const {
    int status = 0;
    ASSERT_EQ(::kill(pid_, SIGSTOP), 0);
    ASSERT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
    ASSERT_TRUE(WIFSTOPPED(status)) << "it was over before";
  }
  void go_on() const { ::kill(pid_, SIGCONT); }
  [[nodiscard]] bool has_connected() {
    int status = -1;
    over_ = true;
    return ::waitpid(pid_, &status, 0) == pid_ && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  const pid_t pid_;
  bool over_ = false;
};

bool read_request(int socket) {
  const Bytes expected = soft::test::encoded(
      soft::test::enhanced_frame(mpa::FrameKind::kRequest, soft::test::data_of(16, 16)));
  Bytes request(expected.size());
  return ::recv(socket, request.data(), request.size(), MSG_WAITALL) ==
         static_cast<ssize_t>(request.size());
}

// The Replies have come when the children go on; what they do first is up to the scheduler, so that
// there are several.
TEST(StoppedProcess, FindsTheReplyThatHasComeMeanwhile) {
  const PlainListener listener;
  const Bytes reply = soft::test::accepting_reply();
  std::vector<Descriptor> sockets;
  std::vector<std::unique_ptr<ConnectingChild>> children;
  for (int i = 0; i < 6; ++i) {
    children.push_back(std::make_unique<ConnectingChild>(listener));
    sockets.push_back(listener.accept());
    ASSERT_TRUE(read_request(sockets.back().get()));
    children.back()->stop();
    ASSERT_EQ(::write(sockets.back().get(), reply.data(), reply.size()),
              static_cast<ssize_t>(reply.size()));
  }
  std::this_thread::sleep_for(kStop);
  for (const auto& child : children) child->go_on();
  for (const auto& child : children) EXPECT_TRUE(child->has_connected());
}

// ---- The waiting thread's side, by counting.

TEST(PatientWait, StepThatTakesTooLongCostsNoMoreThanItself) {
  constexpr auto kTimeOut = 80ms;
  Deadline::Duration asked{};
  int steps = 0;
  const bool found = wait_patiently(kTimeOut, [&](Deadline::Duration step) {
    asked += step;
    std::this_thread::sleep_for(++steps == 2 ? 2 * kTimeOut : step);
    return false;
  });
  EXPECT_FALSE(found);
  EXPECT_GE(asked, kTimeOut);
}

TEST(PatientWait, LooksOnceMoreWhenTheTimeIsOver) {
  int steps = 0;
  const bool found = wait_patiently(1ms, [&](Deadline::Duration) {
    std::this_thread::sleep_for(5ms);
    return ++steps == 2;
  });
  EXPECT_TRUE(found);
}

TEST(PatientWait, WaitOfNoTimeLooksAndDoesNotWait) {
  for (const auto timeout : {0ms, -1ms, std::chrono::milliseconds::min()}) {
    EXPECT_FALSE(wait_patiently(timeout, [&](Deadline::Duration step) {
      EXPECT_LE(step, Deadline::Duration::zero());
      return false;
    }));
    EXPECT_TRUE(wait_patiently(timeout, [](Deadline::Duration) { return true; }));
  }
  EXPECT_TRUE(wait_patiently(std::chrono::milliseconds::max(),
                             [](Deadline::Duration step) { return step > 0ms; }));
}

}  // namespace
}  // namespace iwarp::verbs::test
