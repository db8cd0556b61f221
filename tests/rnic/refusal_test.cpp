#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <cerrno>

#include "rnic_support.hpp"

/// What the system refuses besides rdma-core's objects: descriptors, and options of connections.
namespace {

// Of this thread, outside of the library that plays rdma-core.
thread_local int eventfd_error = 0;
thread_local int epoll_error = 0;

bool fails_with(int error) {
  if (error == 0 || iwarp::rnic::test::is_inside_library()) return false;
  errno = error;
  return true;
}

}  // namespace

// In front of the system's.
extern "C" int eventfd(unsigned count, int flags) noexcept {
  static const auto next = reinterpret_cast<int (*)(unsigned, int)>(::dlsym(RTLD_NEXT, "eventfd"));
  return fails_with(eventfd_error) ? -1 : next(count, flags);
}
extern "C" int epoll_create1(int flags) noexcept {
  static const auto next = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "epoll_create1"));
  return fails_with(epoll_error) ? -1 : next(flags);
}

namespace iwarp::rnic::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// As long as it lives, descriptors of a kind are refused.
class NoDescriptors {
 public:
  NoDescriptors(int& kind, int error) : kind_(kind) { kind_ = error; }
  ~NoDescriptors() { kind_ = 0; }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  int& kind_;
};

TEST(AdapterRefusals, WithoutADescriptorForItsThreadItIsNotOpened) {
  ASSERT_TRUE(nothing_is_left());
  {
    const NoDescriptors none(eventfd_error, EMFILE);
    const auto device = open_adapter(kAdapter);
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().code, std::errc::too_many_files_open);
    EXPECT_THAT(device.error().message, HasSubstr("iwarp0: there is no descriptor"));
  }
  EXPECT_EQ(living(), 0);
  EXPECT_TRUE(open_adapter(kAdapter));
}

class AdapterRefusalsOf : public Adapters {};

TEST_F(AdapterRefusalsOf, ACompletionQueueTakesADescriptorOfEachKind) {
  const long before = living();
  for (int* const kind : {&eventfd_error, &epoll_error}) {
    const NoDescriptors none(*kind, ENFILE);
    const auto refused = device_.create_cq(8);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, std::errc::too_many_files_open_in_system);
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr("iwarp0: "), HasSubstr("8 completions")));
    EXPECT_EQ(living(), before);
  }
  EXPECT_TRUE(device_.create_cq(8));
}

TEST_F(AdapterRefusalsOf, AnOptionOfAConnectionEndsTheStartUp) {
  auto listener = device_.listen(kLoopback).value();
  const FailingCalls failing("rdma_set_option", ENOSYS);
  verbs::ConnectOptions options;
  options.traffic_class = 0x10;
  const auto connected = a_.connect(listener.endpoint(), options);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, std::errc::function_not_supported);
  EXPECT_THAT(connected.error().message, HasSubstr("iwarp0: the traffic class cannot be set"));
}

TEST_F(AdapterRefusalsOf, APortIsNotTakenForTheDeviceFiles) {
  const FailingCalls failing("rdma_bind_addr", EACCES);
  const auto listener = device_.listen(verbs::Endpoint::parse("127.0.0.1:80").value());
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, std::errc::permission_denied);
  EXPECT_THAT(listener.error().message,
              AllOf(HasSubstr("iwarp0: it cannot listen at 127.0.0.1:80"),
                    HasSubstr("CAP_NET_BIND_SERVICE"), Not(HasSubstr("/dev/infiniband"))));
}

TEST_F(AdapterRefusalsOf, AnOptionOfAListenerIsToldByName) {
  const FailingCalls failing("rdma_set_option", ENOSYS);
  verbs::ListenOptions with_class, for_v6;
  with_class.traffic_class = 0x10;
  for_v6.v6_only = true;
  const auto of_class = device_.listen(kLoopback, with_class);
  ASSERT_FALSE(of_class);
  EXPECT_EQ(of_class.error().code, std::errc::function_not_supported);
  EXPECT_THAT(of_class.error().message, HasSubstr("traffic class"));
  const auto of_v6 = device_.listen(verbs::Endpoint::parse("[::1]:0").value(), for_v6);
  ASSERT_FALSE(of_v6);
  EXPECT_THAT(of_v6.error().message, HasSubstr("IPv6 alone"));
  EXPECT_TRUE(device_.listen(kLoopback)) << "without an option";
}

}  // namespace
}  // namespace iwarp::rnic::test
