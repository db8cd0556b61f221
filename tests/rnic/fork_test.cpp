#include <fcntl.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <optional>
#include <set>

#include "hidden_descriptor.hpp"
#include "rnic_support.hpp"
#include "support/forked_child.hpp"

/// What a forked child has of its parent's adapter.
namespace iwarp::rnic::test {
namespace {

using iwarp::test::status_of_child;

std::set<int>& handed_out() {
  static std::set<int> descriptors;
  return descriptors;
}

// By its number: listing them takes one, the first that is free.
bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) != -1; }

// Descriptors of this adapter that the library behind it has handed out, and that are still open
// here.
std::set<int> left_of_handed_out() {
  handed_out().clear();
  each_descriptor([](int each) { handed_out().insert(each); });
  std::set<int> left;
  for (const int each : handed_out()) {
    if (is_open(each)) left.insert(each);
  }
  return left;
}

TEST(ForkedAdapter, ChildrenHaveNoneOfItsDescriptors) {
  ASSERT_TRUE(nothing_is_left());
  heal();
  verbs::Device device(open_adapter(kAdapter).value());
  const auto cq = device.create_cq(8).value();
  const auto probed = left_of_handed_out();
  EXPECT_GE(probed.size(), 3U) << "events of the adapter, of connections, and of completions";
  EXPECT_EQ(status_of_child([] { return left_of_handed_out().empty(); }), 0);
  EXPECT_EQ(left_of_handed_out(), probed);
}

// Numbers are given anew once they are free.
TEST(ForkedAdapter, ChildrenKeepWhatHasTheNumbersBehindItsEnd) {
  ASSERT_TRUE(nothing_is_left());
  heal();
  {
    verbs::Device device(open_adapter(kAdapter).value());
    const auto cq = device.create_cq(8).value();
  }
  ASSERT_TRUE(nothing_is_left());
  std::vector<process::Descriptor> ours;
  for (int count = 0; count < 16; ++count) ours.emplace_back(::open("/dev/null", O_RDONLY));
  EXPECT_EQ(status_of_child([&] {
              return std::all_of(ours.begin(), ours.end(),
                                 [](const auto& each) { return is_open(each.get()); });
            }),
            0);
}

TEST(ForkedAdapter, ADescriptorOfItsOwnIsClosedOnce) {
  std::optional<HiddenDescriptor> hidden(::eventfd(0, EFD_CLOEXEC));
  ASSERT_TRUE(*hidden);
  EXPECT_EQ(status_of_child([&] {
              if (is_open(hidden->get())) return false;
              const process::Descriptor childs(::open("/dev/null", O_RDONLY));
              const bool same = childs.get() == hidden->get();
              hidden.reset();
              return same && is_open(childs.get());
            }),
            0);
  EXPECT_TRUE(is_open(hidden->get()));
}

}  // namespace
}  // namespace iwarp::rnic::test
