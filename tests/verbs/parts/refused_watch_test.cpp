#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "verbs/loopback_support.hpp"

// A system that refuses to watch a socket, as it does at its limit of watched descriptors for a
// user. The connection is lost then, with the system's reason, instead of hanging.
namespace iwarp::verbs::test {
namespace {

// Which sets are refused, by what they ask for: the engine for one event at a time, a completion
// queue for all. Asio's are left alone.
enum class Refused { kNone, kEngine, kQueue };
std::atomic<Refused> refused{Refused::kNone};

bool is_socket(int descriptor) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

bool refuses(int operation, int descriptor, const epoll_event* event) {
  if (operation != EPOLL_CTL_ADD || refused.load() == Refused::kNone) return false;
  const bool once = (event->events & EPOLLONESHOT) != 0;
  const bool asio = (event->events & EPOLLET) != 0;
  return !asio && once == (refused.load() == Refused::kEngine) && is_socket(descriptor);
}

}  // namespace
}  // namespace iwarp::verbs::test

// In front of the system's.
extern "C" int epoll_ctl(int set, int operation, int descriptor, epoll_event* event) noexcept {
  using Call = int (*)(int, int, int, epoll_event*);
  static const auto next = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "epoll_ctl"));
  if (iwarp::verbs::test::refuses(operation, descriptor, event)) {
    errno = ENOSPC;
    return -1;
  }
  return next(set, operation, descriptor, event);
}

namespace iwarp::verbs::test {
namespace {

/// The system refuses, until this goes.
class Refusal {
 public:
  explicit Refusal(Refused whom) { refused.store(whom); }
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;
  ~Refusal() { refused.store(Refused::kNone); }
};

void expect_lost_for_the_systems_reason(QueuePair& qp) {
  ASSERT_TRUE(qp.wait_disconnected(kPatience));
  const Diagnosis why = qp.diagnosis();
  EXPECT_FALSE(why.graceful);
  EXPECT_NE(why.sentence.find("No space left on device"), std::string::npos) << why.sentence;
}

void expect_lost_when_accepted(AskedServer& asked, Refused whom) {
  auto request = asked.next();
  ASSERT_TRUE(request);
  const Refusal refusal(whom);
  ASSERT_TRUE(request->start_accept(asked.server_qp));
  expect_lost_for_the_systems_reason(asked.server_qp);
  EXPECT_TRUE(asked.client_qp.wait_disconnected(kPatience));
}

TEST(RefusedWatch, EndsTheConnectionIfTheEngineIsRefused) {
  AskedServer asked;
  expect_lost_when_accepted(asked, Refused::kEngine);
}

TEST(RefusedWatch, EndsTheConnectionIfAQueueIsRefusedThatSleptBefore) {
  AskedServer asked;
  static_cast<void>(asked.server.cq.wait(0ms));  // has a set of sockets from now on
  expect_lost_when_accepted(asked, Refused::kQueue);
}

TEST(RefusedWatch, EndsTheConnectionsOfAQueueThatIsRefusedWhenItSleeps) {
  LoopbackPair pair;
  ASSERT_TRUE(pair.client_qp.post_receive(RecvWr{.wr_id = 7, .sges = {}}));
  const Refusal refusal(Refused::kQueue);
  const auto flushed = pair.client.cq.wait(kPatience);
  ASSERT_TRUE(flushed);
  EXPECT_EQ(flushed->status, Status::kFlushed);
  expect_lost_for_the_systems_reason(pair.client_qp);
  EXPECT_TRUE(pair.server_qp.wait_disconnected(kPatience));
}

}  // namespace
}  // namespace iwarp::verbs::test
