#include "post.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "completion.hpp"
#include "send_batch.hpp"
#include "work_ring.hpp"

namespace iwarp::rnic::test {
namespace {

using verbs::Opcode;
using verbs::SendFlags;
using verbs::SendWr;
using verbs::Status;

constexpr PostLimits kBare{.max_send_sge = 2, .max_recv_sge = 1, .max_inline = 16};
constexpr PostLimits kRich{.max_send_sge = 2, .max_recv_sge = 1, .max_inline = 16, .windows = true};

verbs::Sge piece(std::uint32_t length) { return {nullptr, length, Stag{1}}; }

template <typename Request>
std::errc code_of(const Request& request, const PostLimits& limits) {
  return refusal_of(request, limits).value_or(verbs::PostError()).code;
}

TEST(AdapterPost, RefusesWhatTheAdapterLacks) {
  EXPECT_EQ(code_of(SendWr{.opcode = Opcode::kInvalidate}, kBare), std::errc::not_supported);
  EXPECT_EQ(code_of(SendWr{.opcode = Opcode::kInvalidate}, kRich), std::errc{});
  for (const Opcode opcode : {Opcode::kImmediate, Opcode::kWriteImmediate, Opcode::kFetchAdd,
                              Opcode::kCmpSwap, Opcode::kRegister}) {
    EXPECT_EQ(code_of(SendWr{.opcode = opcode}, kRich), std::errc::not_supported);
  }
  const verbs::BindWr bind;
  EXPECT_EQ(code_of(SendWr{.opcode = Opcode::kBindWindow, .bind = &bind}, kBare),
            std::errc::not_supported);
  EXPECT_EQ(code_of(SendWr{.opcode = Opcode::kBindWindow}, kRich), std::errc::invalid_argument);
}

TEST(AdapterPost, RefusesWhatIsBeyondTheQueuesLimits) {
  const std::array three{piece(1), piece(1), piece(1)};
  EXPECT_EQ(code_of(SendWr{.sges = three}, kBare), std::errc::invalid_argument);
  const std::array huge{piece(UINT32_MAX), piece(1)};
  EXPECT_EQ(code_of(SendWr{.sges = huge}, kBare), std::errc::message_size);
  const std::array long_inline{piece(17)};
  EXPECT_EQ(code_of(SendWr{.flags = SendFlags::kInline, .sges = long_inline}, kBare),
            std::errc::invalid_argument);
  EXPECT_EQ(code_of(SendWr{.sges = long_inline}, kBare), std::errc{});
  const std::array short_inline{piece(16)};
  EXPECT_EQ(code_of(SendWr{.flags = SendFlags::kInline, .sges = short_inline}, kBare), std::errc{});
  const SendWr read{.opcode = Opcode::kRead, .flags = SendFlags::kInline, .sges = short_inline};
  EXPECT_EQ(code_of(read, kBare), std::errc::invalid_argument);
  EXPECT_EQ(code_of(verbs::RecvWr{.sges = huge}, kBare), std::errc::invalid_argument);
}

TEST(AdapterPost, TakesTheRequestsBeforeTheFirstThatIsRefused) {
  const std::array requests{SendWr{}, SendWr{}, SendWr{.opcode = Opcode::kImmediate}, SendWr{}};
  const Admitted taken = admitted(std::span<const SendWr>(requests), kBare);
  EXPECT_EQ(taken.count, 2U);
  ASSERT_TRUE(taken.why);
  EXPECT_EQ(taken.why->code, std::errc::not_supported);
  EXPECT_EQ(taken.why->message(), "request 2: opcode: the adapter does not have this operation");
}

TEST(AdapterPost, WhatALibraryReturnsIsAnErrno) {
  errno = EBUSY;
  EXPECT_EQ(errno_of_post(0), 0);
  EXPECT_EQ(errno_of_post(ENOMEM), ENOMEM);
  EXPECT_EQ(errno_of_post(-ENOMEM), ENOMEM);
  EXPECT_EQ(errno_of_post(-1), EBUSY);
  errno = 0;
  EXPECT_EQ(errno_of_post(-1), EIO);
}

TEST(SendBatch, SaysWhatTheAdapterIsToDo) {
  WorkRing ring(4);
  SendBatch batch;
  std::array<char, 8> memory{};
  const std::array source{verbs::Sge{memory.data(), 8, Stag{0x101}},
                          verbs::Sge{memory.data() + 4, 2, Stag{0x102}}};
  batch.add({.opcode = Opcode::kWrite,
             .flags = SendFlags::kFence | SendFlags::kSolicited,
             .sges = source,
             .remote_stag = Stag{0x201},
             .remote_offset = 99},
            ring.post(1, Told::kWhenFailed, false), {});
  batch.add({.opcode = Opcode::kSendInvalidate, .invalidate_stag = Stag{0x301}},
            ring.post(2, Told::kAlways, true), {});
  ASSERT_EQ(batch.size(), 2U);
  const ibv_send_wr& write = *batch.first();
  EXPECT_EQ(write.opcode, IBV_WR_RDMA_WRITE);
  EXPECT_EQ(write.send_flags, unsigned{IBV_SEND_FENCE} | unsigned{IBV_SEND_SOLICITED});
  ASSERT_EQ(write.num_sge, 2);
  EXPECT_EQ(write.sg_list[1].length, 2U);
  EXPECT_EQ(write.sg_list[1].lkey, 0x102U);
  EXPECT_EQ(write.wr.rdma.rkey, 0x201U);
  EXPECT_EQ(write.wr.rdma.remote_addr, 99U);
  ASSERT_NE(write.next, nullptr);
  EXPECT_EQ(write.next->opcode, IBV_WR_SEND_WITH_INV);
  EXPECT_EQ(write.next->invalidate_rkey, 0x301U);
  EXPECT_EQ(write.next->wr.rdma.rkey, 0x301U);
  EXPECT_EQ(write.next->send_flags, unsigned{IBV_SEND_SIGNALED});
  EXPECT_EQ(write.next->next, nullptr);
}

TEST(SendBatch, HasRoomForSoManyRequestsAndElements) {
  WorkRing ring(2);
  SendBatch batch;
  const std::vector<verbs::Sge> many(SendBatch::kMostSges - 1, piece(1));
  batch.add({.sges = many}, ring.post(1, Told::kAlways, true), {});
  EXPECT_TRUE(batch.has_room(1));
  EXPECT_FALSE(batch.has_room(2));
}

// What adapters say, and what a program reads.
struct Ending {
  ibv_wc_status native;
  Status ours;
};

class AdapterCompletion : public testing::TestWithParam<Ending> {};

TEST_P(AdapterCompletion, IsToldInTheVerbsTerms) {
  WorkRing ring(1);
  ibv_wc wc{};
  wc.wr_id = reinterpret_cast<std::uintptr_t>(&ring.post(77, Told::kAlways, true));
  wc.status = GetParam().native;
  wc.qp_num = 9;
  const auto completion = completion_of(wc);
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->wr_id, 77U);
  EXPECT_EQ(completion->qp_number, 9U);
  EXPECT_EQ(completion->status, GetParam().ours);
}

INSTANTIATE_TEST_SUITE_P(
    Endings, AdapterCompletion,
    testing::Values(Ending{IBV_WC_SUCCESS, Status::kSuccess},
                    Ending{IBV_WC_LOC_LEN_ERR, Status::kLocalLengthError},
                    Ending{IBV_WC_LOC_QP_OP_ERR, Status::kLocalQpError},
                    Ending{IBV_WC_LOC_PROT_ERR, Status::kLocalProtectionError},
                    Ending{IBV_WC_LOC_ACCESS_ERR, Status::kLocalProtectionError},
                    Ending{IBV_WC_WR_FLUSH_ERR, Status::kFlushed},
                    Ending{IBV_WC_MW_BIND_ERR, Status::kWindowBindError},
                    Ending{IBV_WC_REM_INV_REQ_ERR, Status::kRemoteInvalidRequest},
                    Ending{IBV_WC_REM_ACCESS_ERR, Status::kRemoteAccessError},
                    Ending{IBV_WC_REM_OP_ERR, Status::kRemoteOperationError},
                    Ending{IBV_WC_FATAL_ERR, Status::kFatal}),
    [](const auto& of) { return std::to_string(of.param.native); });

/// What the program is told when the adapter completes the request in this slot.
std::optional<verbs::Completion> told_of(const WorkSlot& slot, ibv_wc_status status) {
  ibv_wc wc{};
  wc.wr_id = reinterpret_cast<std::uintptr_t>(&slot);
  wc.status = status;
  return completion_of(wc);
}

TEST(AdapterCompletionOf, ASilentRequestIsToldOnlyIfItFails) {
  WorkRing ring(2);
  EXPECT_FALSE(told_of(ring.post(1, Told::kWhenFailed, true), IBV_WC_SUCCESS));
  EXPECT_EQ(ring.outstanding(), 0U);
  EXPECT_TRUE(told_of(ring.post(2, Told::kWhenFailed, true), IBV_WC_WR_FLUSH_ERR));
}

TEST(AdapterCompletionOf, WhatTheProgramDidNotPostIsNeverTold) {
  WorkRing ring(2);
  EXPECT_FALSE(told_of(ring.post(0, Told::kNever, true), IBV_WC_SUCCESS));
  EXPECT_FALSE(told_of(ring.post(0, Told::kNever, true), IBV_WC_WR_FLUSH_ERR));
  EXPECT_EQ(ring.outstanding(), 0U);
}

TEST(AdapterCompletionOf, ARequestIsToldOnceHoweverOftenTheAdapterTells) {
  WorkRing ring(2);
  const WorkSlot& read = ring.post(3, Told::kAlways, true);
  EXPECT_TRUE(told_of(read, IBV_WC_WR_FLUSH_ERR));
  EXPECT_FALSE(told_of(read, IBV_WC_WR_FLUSH_ERR));
  EXPECT_EQ(ring.outstanding(), 0U);
}

}  // namespace
}  // namespace iwarp::rnic::test
