#include <unistd.h>

#include "rnic_support.hpp"

/// Sends and Writes of which the program does not want to hear. siw sends those of a page and more
/// out of the program's memory for longer than the program knows, unless it has to tell of them.
namespace iwarp::rnic::test {
namespace {

using verbs::SendFlags;
using verbs::Status;

constexpr unsigned kSiw = 0x626d74;
// How many more than its depth a completion queue of siw's holds for them.
constexpr std::uint32_t kRoom = 1024;

std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

// An adapter that is still open stays of the vendor that it was of.
struct Vendor {
  explicit Vendor(unsigned id) {
    EXPECT_TRUE(nothing_is_left());
    be_of_vendor(id);
  }
  ~Vendor() {
    EXPECT_TRUE(nothing_is_left());
    heal();
  }
  Vendor(const Vendor&) = delete;
  Vendor& operator=(const Vendor&) = delete;
};

/// Two queue pairs on an adapter of a vendor, and two pages of memory.
class Silent {
 public:
  explicit Silent(unsigned vendor) : vendor_(vendor) {
    auto listener = device_.listen(kLoopback).value();
    EXPECT_TRUE(from.start_connect(listener.endpoint()));
    auto request = listener.next(10s);
    EXPECT_TRUE(request && request->accept(to_));
    EXPECT_TRUE(eventually([&] { return from.state() == verbs::QpState::kRts; }));
  }

  [[nodiscard]] verbs::Sge sge(std::size_t octets) const {
    return region_.sge(0, static_cast<std::uint32_t>(octets));
  }
  verbs::SendWr write(std::span<const verbs::Sge> sges, SendFlags flags = SendFlags::kNone) {
    verbs::SendWr request;
    request.wr_id = 7;
    request.opcode = verbs::Opcode::kWrite;
    request.flags = flags;
    request.sges = sges;
    request.remote_stag = region_.rkey();
    request.remote_offset = region_.remote().offset;
    return request;
  }
  /// Tells of all that is behind it, and lets that be all.
  void expect_one_completion() {
    const std::array one{sge(1)};
    ASSERT_TRUE(from.post_send(write(one, SendFlags::kSignaled)));
    const auto done = cq.wait(10s);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->status, Status::kSuccess);
    std::array<verbs::Completion, 1> more;
    EXPECT_EQ(cq.poll(more), 0U);
  }

 private:
  Vendor vendor_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(2 * page());
  verbs::Device device_{open_adapter(kAdapter).value()};
  verbs::ProtectionDomain pd_ = device_.alloc_pd().value();
  verbs::MemoryRegion region_ =
      pd_.register_memory(memory_, verbs::Access::kLocalWrite | verbs::Access::kRemoteWrite)
          .value();
  static verbs::QpOptions options() {
    verbs::QpOptions options;
    options.capacity.max_send_wr = 2 * kRoom;
    options.capacity.max_send_sge = 2;
    return options;
  }

 public:
  verbs::CompletionQueue cq = device_.create_cq(16).value();
  verbs::QueuePair from = pd_.create_qp(cq, options()).value();

 private:
  verbs::QueuePair to_ = pd_.create_qp(cq, options()).value();
};

TEST(SilentRequests, OfAPageAreToldByAnAdapterThatIsSiw) {
  Silent ends(kSiw);
  const std::array shorter{ends.sge(page() - 1)}, page_long{ends.sge(page())};
  const std::array two{ends.sge(page() - 1), ends.sge(1)};
  ASSERT_TRUE(ends.from.post_send(ends.write(shorter)));
  ASSERT_TRUE(ends.from.post_send(ends.write(page_long)));
  ASSERT_TRUE(ends.from.post_send(ends.write(two)));
  EXPECT_EQ(longest_silent(), page() - 1);
  ends.expect_one_completion();
}

TEST(SilentRequests, OfAnySizeAreSilentOnOtherAdapters) {
  Silent ends(0);
  const std::array two_pages{ends.sge(2 * page())};
  ASSERT_TRUE(ends.from.post_send(ends.write(two_pages)));
  EXPECT_EQ(longest_silent(), 2 * page());
  ends.expect_one_completion();
}

TEST(SilentRequests, NeverOverrunTheCompletionQueue) {
  Silent ends(kSiw);
  const std::array pages{ends.sge(page())};
  const verbs::SendWr request = ends.write(pages);
  hold_completions(true);
  for (std::uint32_t posted = 0; posted != kRoom; ++posted) {
    ASSERT_TRUE(ends.from.post_send(request)) << posted;
  }
  const auto refused = ends.from.post_send(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, std::errc::not_enough_memory);
  const std::array shorter{ends.sge(1)};
  EXPECT_TRUE(ends.from.post_send(ends.write(shorter))) << "it takes no room there";
  hold_completions(false);
  EXPECT_TRUE(eventually([&] { return ends.from.post_send(request).has_value(); }));
  ends.expect_one_completion();
}

}  // namespace
}  // namespace iwarp::rnic::test
