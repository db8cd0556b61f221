// Two threads that send each other messages, so many to and fro as the argument says. Each sleeps
// in ibv_get_cq_event() until one has come. What that costs is counted from outside. A message that
// comes before the thread has gone to sleep is the engine's to read, and how many do is a matter of
// time: so each thread sends when the other sleeps. The status is 77 where the kernel does not show
// that.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <future>
#include <string>
#include <string_view>
#include <thread>

#include "compat/pair.hpp"

namespace {

using namespace iwarp::compat_test;

constexpr int kSkipped = 77;

// What a thread of this process does, by the kernel's account of its system call: proc(5).
class Watch {
 public:
  explicit Watch(pid_t thread) {
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/syscall";
    shown_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    if (shown_ >= 0) ::close(shown_);
  }
  [[nodiscard]] bool works() const { return shown_ >= 0 && !call().empty(); }
  // Until the thread sleeps at its socket. Nothing else in the process calls epoll_pwait().
  void await_sleep() const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (call() != std::to_string(SYS_epoll_pwait)) {
      if (std::chrono::steady_clock::now() > until) {
        throw std::runtime_error("a thread does not sleep at its socket; its call: " + call());
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

 private:
  // The number of the thread's call, or "running".
  [[nodiscard]] std::string call() const {
    std::array<char, 256> text{};
    const ssize_t got = ::pread(shown_, text.data(), text.size(), 0);
    const std::string_view all(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    return std::string(all.substr(0, all.find_first_of(" \n")));
  }

  int shown_;
};

// Arms the queue before it polls, as ibv_get_cq_event(3) shows it.
void await_message(End& end) {
  for (;;) {
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    must(ibv_get_cq_event(end.id->recv_cq_channel, &queue, &context), "ibv_get_cq_event");
    ibv_ack_cq_events(queue, 1);
    must(ibv_req_notify_cq(queue, 0), "ibv_req_notify_cq");
    ibv_wc done{};
    int messages = 0;
    while (ibv_poll_cq(queue, 1, &done) == 1) {
      if (done.status != IBV_WC_SUCCESS) throw std::runtime_error(ibv_wc_status_str(done.status));
      ++messages;
    }
    if (messages != 0) return must(end.post_receive(1), "ibv_post_recv");
  }
}

void send(End& end) {
  must(end.post_send(2, end.sge()), "ibv_post_send");
  completion_of(end.id->send_cq);
}

}  // namespace

int main(int, char** arguments) {
  const std::string_view text(arguments[1]);
  int rounds = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounds);
  const Watch client(::gettid());
  if (!client.works()) {
    std::puts("this kernel does not show which system call a thread is in");
    return kSkipped;
  }
  Pair pair;
  must(pair.client.post_receive(1), "ibv_post_recv");
  for (End* end : {&pair.client, &pair.server}) {
    must(ibv_req_notify_cq(end->id->recv_cq, 0), "ibv_req_notify_cq");
  }
  std::promise<pid_t> started;
  std::thread answers([&] {
    started.set_value(::gettid());
    for (int i = 0; i < rounds; ++i) {
      await_message(pair.server);
      client.await_sleep();
      send(pair.server);
    }
  });
  const Watch server(started.get_future().get());
  for (int i = 0; i < rounds; ++i) {
    server.await_sleep();
    send(pair.client);
    await_message(pair.client);
  }
  answers.join();
}
