#include <unistd.h>

#include "rnic_support.hpp"

/// Sends and Writes of which the program does not want to hear. siw sends those of a page and more
/// out of the program's memory for longer than the program knows, unless it has to tell of them.
namespace iwarp::rnic::test {
namespace {

using verbs::SendFlags;
using verbs::Status;

constexpr unsigned kSiw = 0x626d74;
// How many more than its depth a completion queue of siw's holds for them, at least.
constexpr std::uint32_t kPlaces = 16384;

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
  explicit Silent(unsigned vendor) : vendor_(vendor) { connect(); }

  /// Destroys both, and connects two others.
  void connect_anew() {
    from = pd_.create_qp(cq, options()).value();
    to_ = pd_.create_qp(cq, options()).value();
    connect();
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
  /// Of a request behind all others, and of no other.
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
  static verbs::QpOptions options() {
    verbs::QpOptions options;
    options.capacity.max_send_wr = kPlaces + 64;
    options.capacity.max_send_sge = 2;
    return options;
  }
  void connect() {
    auto listener = device_.listen(kLoopback).value();
    EXPECT_TRUE(from.start_connect(listener.endpoint()));
    auto request = listener.next(10s);
    EXPECT_TRUE(request && request->accept(to_));
    EXPECT_TRUE(eventually([&] { return from.state() == verbs::QpState::kRts; }));
  }

  Vendor vendor_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(2 * page());
  verbs::Device device_{open_adapter(kAdapter).value()};
  verbs::ProtectionDomain pd_ = device_.alloc_pd().value();
  verbs::MemoryRegion region_ =
      pd_.register_memory(memory_, verbs::Access::kLocalWrite | verbs::Access::kRemoteWrite)
          .value();

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
  const std::vector list(16, ends.write(pages));
  const auto post_all = [&] { return ends.from.post_send(list, verbs::Posting::kAllOrNone); };
  hold_completions(true);
  for (std::uint32_t posted = 0; posted != kPlaces - 8; posted += 8) {
    ASSERT_TRUE(ends.from.post_send(std::span(list).first(8))) << posted;
  }
  const auto none = post_all();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, std::errc::not_enough_memory);
  EXPECT_EQ(none.error().index, 8U);
  const auto some = ends.from.post_send(list);
  ASSERT_FALSE(some);
  EXPECT_EQ(some.error().index, 8U) << "those before it have been posted";
  EXPECT_FALSE(ends.from.post_send(list.front()));
  const std::array shorter{ends.sge(1)};
  EXPECT_TRUE(ends.from.post_send(ends.write(shorter))) << "it takes no place";
  hold_completions(false);
  EXPECT_TRUE(eventually([&] { return post_all().has_value(); }));
  ends.expect_one_completion();
}

// Their places are free when the adapter has flushed them.
TEST(SilentRequests, OfAQueuePairThatIsDestroyedTakeNoPlaces) {
  Silent ends(kSiw);
  const std::array pages{ends.sge(page())};
  const verbs::SendWr request = ends.write(pages);
  hold_completions(true);
  for (std::uint32_t posted = 0; posted != kPlaces; ++posted) {
    ASSERT_TRUE(ends.from.post_send(request)) << posted;
  }
  ASSERT_FALSE(ends.from.post_send(request));
  hold_completions(false);
  ends.connect_anew();
  EXPECT_TRUE(ends.from.post_send(request));
  ends.expect_one_completion();
}

}  // namespace
}  // namespace iwarp::rnic::test
