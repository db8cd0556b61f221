// Two threads that send each other messages, so many to and fro as the argument says. Each sleeps
// in ibv_get_cq_event() until one has come. What that costs is counted from outside.
#include <charconv>
#include <string_view>

#include "compat/pair.hpp"

namespace {

using namespace iwarp::compat_test;

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
  Pair pair;
  must(pair.client.post_receive(1), "ibv_post_recv");
  for (End* end : {&pair.client, &pair.server}) {
    must(ibv_req_notify_cq(end->id->recv_cq, 0), "ibv_req_notify_cq");
  }
  std::thread answers([&] {
    for (int i = 0; i < rounds; ++i) {
      await_message(pair.server);
      send(pair.server);
    }
  });
  for (int i = 0; i < rounds; ++i) {
    send(pair.client);
    await_message(pair.client);
  }
  answers.join();
}
