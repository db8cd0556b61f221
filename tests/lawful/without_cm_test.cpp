#include "compat/host.hpp"
#include "lawful/polling.hpp"

// ibv_modify_qp(3): queue pairs that programs connect themselves. On InfiniBand one in RTR waits
// for its peer for ever; one that sends gives up when its request has been sent again `retry_cnt`
// times (InfiniBand Architecture 1.3, section 9.9.2.1.1).
namespace iwarp::lawful {
namespace {

using compat_test::connect_without_cm;
using compat_test::Host;

struct LoneEnd {
  explicit LoneEnd(const Host& host) : qp(host.make_qp()) {}
  LoneEnd(const LoneEnd&) = delete;
  LoneEnd& operator=(const LoneEnd&) = delete;
  ~LoneEnd() { EXPECT_EQ(ibv_destroy_qp(qp), 0); }
  [[nodiscard]] int post_receive() const {
    ibv_recv_wr request{}, *bad = nullptr;
    return ibv_post_recv(qp, &request, &bad);
  }
  [[nodiscard]] int post_send() const {
    ibv_send_wr request{}, *bad = nullptr;
    request.opcode = IBV_WR_SEND;
    return ibv_post_send(qp, &request, &bad);
  }
  ibv_qp* qp;
};

TEST(WithoutCm, LatePeerIsWaitedFor) {
  const Host host;
  // The ends with the lesser numbers come first here, and last there.
  const LoneEnd early_lesser(host), late_greater(host);
  const LoneEnd late_lesser(host), early_greater(host);
  const LoneEnd alone(host);
  constexpr std::uint32_t kNobodys = 300U << 14U;
  for (const LoneEnd* end : {&early_lesser, &early_greater, &alone}) {
    ASSERT_EQ(end->post_receive(), 0);
  }
  connect_without_cm(early_lesser.qp, late_greater.qp);
  connect_without_cm(early_greater.qp, late_lesser.qp);
  connect_without_cm(alone.qp, kNobodys);
  std::this_thread::sleep_for(std::chrono::seconds(32));
  ibv_wc wc{};
  ASSERT_EQ(ibv_poll_cq(host.cq, 1, &wc), 0) << ibv_wc_status_str(wc.status);
  connect_without_cm(late_greater.qp, early_lesser.qp);
  connect_without_cm(late_lesser.qp, early_greater.qp);
  ASSERT_EQ(late_greater.post_send(), 0);
  ASSERT_EQ(late_lesser.post_send(), 0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(completion_of(host.cq).status, IBV_WC_SUCCESS);
}

TEST(WithoutCm, SenderGivesUpAPeerThatDoesNotCome) {
  const Host host;
  const LoneEnd sender(host), other(host);
  constexpr std::uint32_t kNobodys = 301U << 14U;
  ASSERT_EQ(sender.post_receive(), 0);
  ASSERT_EQ(other.post_receive(), 0);
  connect_without_cm(sender.qp, kNobodys);
  connect_without_cm(other.qp, kNobodys + 1);
  ASSERT_EQ(sender.post_send(), 0);
  const ibv_wc failed = completion_of(host.cq);
  EXPECT_EQ(failed.status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(failed.qp_num, sender.qp->qp_num);
  const ibv_wc flushed = completion_of(host.cq);
  EXPECT_EQ(flushed.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(flushed.qp_num, sender.qp->qp_num) << "the other has sent nothing";
}

}  // namespace
}  // namespace iwarp::lawful
