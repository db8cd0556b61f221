#include <gmock/gmock.h>
#include <infiniband/verbs.h>
#include <sys/resource.h>

#include "rnic_support.hpp"
#include "support/log_lines.hpp"

/// What an adapter is, and what is said where it is not to be had.
namespace iwarp::rnic::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using verbs::Access;

TEST(Adapter, IsListedByItsName) { EXPECT_THAT(adapter_names(), Contains(kAdapter)); }

TEST(Adapter, SaysWhatItIsAndDoesAll) {
  const auto device = open_adapter(kAdapter).value();
  const verbs::DeviceAttributes& can = device->attributes();
  EXPECT_EQ(can.name, "rnic:iwarp0");
  EXPECT_EQ(can.provider, "rnic");
  EXPECT_EQ(can.port, 1);
  EXPECT_EQ(can.driver, "") << "the system knows nothing of it";
  EXPECT_THAT(can.addresses, IsEmpty());
  EXPECT_THAT(can.offloads, ElementsAre("full"));
  EXPECT_GT(can.max_qp, 0U);
  EXPECT_GT(can.max_cqe, 0U);
  EXPECT_GE(can.max_inline, 64U);
  EXPECT_EQ(can.max_private_data, 251U);
  EXPECT_FALSE(can.rfc7306);
  EXPECT_EQ(can.read_sink, Access::kLocalWrite | Access::kRemoteWrite);
}

TEST(Adapter, OneThatIsNotThereIsNamed) {
  const auto device = open_adapter("nosuch7");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, std::errc::no_such_device);
  EXPECT_THAT(device.error().message, HasSubstr("nosuch7"));
}

TEST(Adapter, SaysThatNothingIsRecordedOfIt) {
  ::setenv("IWARP_CAPTURE", "/tmp", 1);
  const iwarp::test::LogLines log;
  EXPECT_TRUE(open_adapter(kAdapter));
  ::unsetenv("IWARP_CAPTURE");
  EXPECT_THAT(log.with("IWARP_CAPTURE"), ElementsAre(HasSubstr(kAdapter)));
}

// A refusal of the system's, and what the program reads then.
struct Refusal {
  const char* function;
  int error;
  const char* says;
};

class AdapterRefused : public testing::TestWithParam<Refusal> {
 protected:
  void SetUp() override { ASSERT_TRUE(nothing_is_left()) << "one that is open is shared"; }
  void TearDown() override { heal(); }
};

TEST_P(AdapterRefused, SaysWhyAndWhatHelps) {
  const Refusal& refusal = GetParam();
  const FailingCalls failing(refusal.function, refusal.error);
  const auto device = open_adapter(kAdapter);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code.value(), refusal.error);
  EXPECT_THAT(device.error().message, HasSubstr(refusal.says));
}

INSTANTIATE_TEST_SUITE_P(
    Calls, AdapterRefused,
    testing::Values(Refusal{"rdma_get_devices", EACCES, "/dev/infiniband"},
                    Refusal{"rdma_get_devices", ENODEV, "rdma_ucm"},
                    Refusal{"ibv_query_device", EIO, "does not tell its limits"},
                    Refusal{"rdma_create_event_channel", EMFILE, "no channel"}),
    [](const auto& of) {
      return std::string(of.param.function) + "_" + std::to_string(of.param.error);
    });

class AdapterObjects : public Adapters {};

TEST_F(AdapterObjects, AreRefusedWithTheNameOfTheAdapter) {
  const auto says_so = HasSubstr("iwarp0: ");
  {
    const FailingCalls failing("ibv_alloc_pd", ENOMEM);
    EXPECT_THAT(device_.alloc_pd().error().message, says_so);
  }
  {
    const FailingCalls failing("ibv_create_comp_channel", EMFILE);
    const auto refused = device_.create_cq(8);
    EXPECT_THAT(refused.error().message, says_so);
    EXPECT_EQ(refused.error().code, std::errc::too_many_files_open);
  }
  {
    const FailingCalls failing("ibv_create_cq", ENOMEM);
    EXPECT_THAT(device_.create_cq(8).error().message, AllOf(says_so, HasSubstr("8 completions")));
  }
  {
    const FailingCalls failing("ibv_create_srq", ENOSYS);
    EXPECT_THAT(pd_.create_srq().error().message, says_so);
  }
  {
    const FailingCalls failing("ibv_create_qp", ENOMEM);
    EXPECT_THAT(pd_.create_qp(cq_).error().message, says_so);
  }
  {
    const FailingCalls failing("ibv_modify_qp", EINVAL);
    EXPECT_THAT(pd_.create_qp(cq_).error().message, says_so);
  }
  EXPECT_TRUE(pd_.create_qp(cq_));
}

TEST_F(AdapterObjects, MemoryThatMayNotBeLockedNamesTheLimit) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_MEMLOCK, &before), 0);
  rlimit small = before;
  small.rlim_cur = 64 * 1024;
  ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &small), 0);
  {
    const FailingCalls failing("ibv_reg_mr", ENOMEM);
    const auto refused = pd_.register_memory(memory_, Access::kLocalWrite);
    EXPECT_EQ(refused.error().code, std::errc::not_enough_memory);
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("4096 octets"), HasSubstr("64 KiB"), HasSubstr("ulimit -l")));
  }
  ::setrlimit(RLIMIT_MEMLOCK, &before);
}

TEST_F(AdapterObjects, WhatNoAdapterHasIsRefused) {
  EXPECT_EQ(pd_.alloc_fast_region().error().code, std::errc::not_supported);
  EXPECT_EQ(pd_.register_memory(memory_, Access::kZeroBased).error().code,
            std::errc::not_supported);
  EXPECT_EQ(pd_.register_memory(memory_, Access::kRemoteInvalidate).error().code,
            std::errc::not_supported);
  EXPECT_EQ(pd_.register_memory(memory_, Access::kOnDemand).error().code, std::errc::not_supported);
  EXPECT_EQ(pd_.register_memory(memory_, Access::kRemoteWrite).error().code,
            std::errc::invalid_argument);
  EXPECT_EQ(pd_.create_qp(cq_, {.capture = "/tmp"}).error().code, std::errc::not_supported);
  EXPECT_EQ(pd_.create_qp(cq_, {.max_fpdu = 4096}).error().code, std::errc::not_supported);
  verbs::ConnectOptions markers, old, unknown;
  markers.want_markers = true;
  old.mpa_revision = 1;
  unknown.mpa_revision = 3;
  const auto with_markers = a_.connect(kLoopback, markers);
  EXPECT_EQ(with_markers.error().code, std::errc::not_supported);
  EXPECT_THAT(with_markers.error().message, HasSubstr("iwarp0 has no Markers"));
  EXPECT_EQ(a_.connect(kLoopback, old).error().code, std::errc::not_supported);
  EXPECT_EQ(a_.connect(kLoopback, unknown).error().code, std::errc::invalid_argument);
}

TEST_F(AdapterObjects, LimitsAreNamed) {
  EXPECT_EQ(pd_.create_qp(cq_, {.linger = 2h}).error().code, std::errc::invalid_argument);
  EXPECT_EQ(pd_.create_srq({.max_sge = 4711}).error().code, std::errc::invalid_argument);
  const auto refused = pd_.create_qp(cq_, {.capacity = {.max_send_sge = 4711}});
  EXPECT_EQ(refused.error().code, std::errc::invalid_argument);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("max_send_sge 4711"), HasSubstr("iwarp0")));
  verbs::ConnectOptions options;
  options.private_data.resize(252);
  EXPECT_THAT(a_.connect(kLoopback, options).error().message, HasSubstr("252 octets"));
  options.private_data.clear();
  options.ord = 1000;
  EXPECT_THAT(a_.connect(kLoopback, options).error().message, HasSubstr("ORD 1000"));
}

}  // namespace
}  // namespace iwarp::rnic::test
