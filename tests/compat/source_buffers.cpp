// Where a payload that a program of the C interface writes is when the system is to take it: the
// argument, `copied` or `referenced`. What the environment promises is read once per process.
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include "compat/pair.hpp"

namespace {

using namespace iwarp::compat_test;

constexpr std::uint32_t kSize = 40000;
std::vector<char> source(kSize, 'x'), sink(kSize);
std::atomic<std::size_t> referenced{0};

void look_at(std::span<const iovec> pieces) {
  for (const iovec& piece : pieces) {
    const auto* at = static_cast<const char*>(piece.iov_base);
    if (at >= source.data() && at < source.data() + kSize) referenced += piece.iov_len;
  }
}

int write_across(Pair& pair) {
  ibv_mr* const from = must(ibv_reg_mr(pair.client.id->pd, source.data(), kSize, 0), "ibv_reg_mr");
  ibv_mr* const to = must(ibv_reg_mr(pair.server.id->pd, sink.data(), kSize,
                                     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
                          "ibv_reg_mr");
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(source.data()), kSize, from->lkey};
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {reinterpret_cast<std::uintptr_t>(sink.data()), to->rkey};
  ibv_send_wr* bad = nullptr;
  must(ibv_post_send(pair.client.id->qp, &request, &bad), "ibv_post_send");
  const ibv_wc done = completion_of(pair.client.id->send_cq);
  pair.expect_alive();  // by a Send behind the Write
  ibv_dereg_mr(from);
  ibv_dereg_mr(to);
  return done.status == IBV_WC_SUCCESS && source == sink ? 0 : 3;
}

}  // namespace

// The library's calls come here, as this program's symbols are found first.
extern "C" [[gnu::visibility("default")]] ssize_t sendmsg(int socket, const msghdr* message,
                                                          int flags) {
  using Call = ssize_t (*)(int, const msghdr*, int);
  static const auto next = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "sendmsg"));
  look_at({message->msg_iov, message->msg_iovlen});
  return next(socket, message, flags);
}

int main(int, char** arguments) {
  ::alarm(30);
  Pair pair;
  if (const int failed = write_across(pair); failed != 0) return failed;
  std::printf("%zu of %u octets were referenced\n", referenced.load(), kSize);
  return (referenced.load() != 0) == (arguments[1] == std::string_view("referenced")) ? 0 : 1;
}
