// What every provider promises of posting: what is taken, what is refused, and with which index.
#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

using Ids = std::vector<std::uint64_t>;

class IdlePostContract : public Contract {};
IWARP_IN_EVERY_WORLD(IdlePostContract);

TEST_P(IdlePostContract, SendsBeforeThereIsAConnectionAreRefused) {
  End end(client);
  const Sge source = client.buffer(10).sge();
  const SendWr requests[] = {send_of(1, {&source, 1}), send_of(2, {&source, 1})};
  const auto posted = end.qp->post_send(requests);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::not_connected);
  EXPECT_EQ(posted.error().index, 0U);
  settle();
  EXPECT_TRUE(client.sent.empty());
}

TEST_P(IdlePostContract, ReceivesBeforeThereIsAConnectionServeIt) {
  End left(client);
  End right(server);
  const Bytes content = pattern(50);
  const Sge source = client.buffer(content).sge();
  Buffer& sink = server.buffer(content.size());
  const Sge scatter = sink.sge();
  post(right, RecvWr{7, {&scatter, 1}});
  ASSERT_TRUE(connect(left, right));
  EXPECT_TRUE(server.received.empty());
  EXPECT_EQ(run(left, send_of(1, {&source, 1})).status, Status::kSuccess);
  ASSERT_TRUE(until([&] { return !server.received.empty(); }));
  EXPECT_EQ(ids(server.received), Ids{7});
  EXPECT_EQ(sink.content(), content);
}

TEST_P(IdlePostContract, AReceiveWithTooManyElementsIsRefused) {
  End end(client);
  const std::vector<Sge> many(end.qp->capacity().max_recv_sge + 1U, client.buffer(10).sge());
  const RecvWr requests[] = {{1, {many.data(), 1}}, {2, many}};
  const auto posted = end.qp->post_receive(requests);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::invalid_argument);
  EXPECT_EQ(posted.error().index, 1U);
  EXPECT_EQ(posted.error().field, PostField::kSges);
}

TEST_P(IdlePostContract, AFullReceiveQueueTakesWhatItHasRoomFor) {
  End end(client);
  const std::size_t room = end.qp->capacity().max_recv_wr;
  const std::vector<RecvWr> more(room + 3);
  const auto posted = end.qp->post_receive(more);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::not_enough_memory);
  EXPECT_EQ(posted.error().index, room);
  const auto again = end.qp->post_receive(RecvWr{});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, std::errc::not_enough_memory);
  EXPECT_EQ(again.error().index, 0U);
}

class PostContract : public ConnectedContract {
 protected:
  // So many receives of nothing for what the left end sends.
  void post_receives(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) post(right, RecvWr{i, {}});
  }
  const Sge source = client.buffer(10).sge();
  const std::span<const Sge> gather{&source, 1};
};
IWARP_IN_EVERY_WORLD(PostContract);

TEST_P(PostContract, ASendWithTooManyElementsIsRefused) {
  const std::vector<Sge> many(left.qp->capacity().max_send_sge + 1U, source);
  const auto posted = left.qp->post_send(send_of(1, many));
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::invalid_argument);
  EXPECT_EQ(posted.error().index, 0U);
  EXPECT_EQ(posted.error().field, PostField::kSges);
  EXPECT_FALSE(posted.error().message().empty());
  expect_service(left, right);
}

TEST_P(PostContract, TooMuchInlineIsRefused) {
  const Buffer& buffer = client.buffer(left.qp->capacity().max_inline + 1U);
  const Sge all = buffer.sge();
  SendWr request = send_of(1, {&all, 1});
  request.flags = SendFlags::kSignaled | SendFlags::kInline;
  EXPECT_EQ(refusal(left.qp->post_send(request)), std::errc::invalid_argument);
  expect_service(left, right);
}

TEST_P(PostContract, AnInlineReadIsRefused) {
  SendWr request = read_of(1, gather, server.buffer(10));
  request.flags = SendFlags::kSignaled | SendFlags::kInline;
  const auto posted = left.qp->post_send(request);
  EXPECT_EQ(refusal(posted), std::errc::invalid_argument);
  EXPECT_EQ(posted ? PostField::kNone : posted.error().field, PostField::kFlags);
  expect_service(left, right);
}

TEST_P(PostContract, WhatIsBeforeARefusedRequestIsPosted) {
  post_receives(2);
  const std::vector<Sge> many(left.qp->capacity().max_send_sge + 1U, source);
  const SendWr requests[] = {send_of(1, {}), send_of(2, {}), send_of(3, many), send_of(4, {})};
  const auto posted = left.qp->post_send(requests);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::invalid_argument);
  EXPECT_EQ(posted.error().index, 2U);
  EXPECT_EQ(posted.error().message().rfind("request 2: sges", 0), 0U) << posted.error().message();
  ASSERT_TRUE(until([&] { return client.sent.size() >= 2 && server.received.size() >= 2; }));
  expect_service(left, right);  // behind all that was posted
  EXPECT_EQ(ids(client.sent), (Ids{1, 2, 991}));
}

TEST_P(PostContract, AllOrNonePostsNone) {
  const std::vector<Sge> many(left.qp->capacity().max_send_sge + 1U, source);
  const SendWr requests[] = {send_of(1, {}), send_of(2, many)};
  const auto posted = left.qp->post_send(requests, Posting::kAllOrNone);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::invalid_argument);
  EXPECT_EQ(posted.error().index, 1U);
  expect_service(left, right);  // would find request 1 before it
  EXPECT_EQ(ids(client.sent), Ids{991});
}

TEST_P(PostContract, AllOrNonePostsAll) {
  post_receives(2);
  const SendWr requests[] = {send_of(1, {}), send_of(2, {})};
  ASSERT_TRUE(left.qp->post_send(requests, Posting::kAllOrNone));
  ASSERT_TRUE(until([&] { return client.sent.size() == 2 && server.received.size() == 2; }));
  EXPECT_EQ(ids(client.sent), (Ids{1, 2}));
}

TEST_P(PostContract, AFullSendQueueTakesWhatItHasRoomFor) {
  const std::size_t room = left.qp->capacity().max_send_wr;
  const Buffer& target = server.buffer(10);
  const std::vector<SendWr> more(room + 5, write_of(1, gather, target));
  const auto posted = left.qp->post_send(more);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::not_enough_memory);
  EXPECT_EQ(posted.error().index, room);
  ASSERT_TRUE(until([&] { return client.sent.size() >= room; }));
  expect_service(left, right);  // there is room again
  EXPECT_EQ(client.sent.size(), room + 1);
}

TEST_P(PostContract, AllOrNonePostsNoneOfMoreThanThereIsRoomFor) {
  const std::size_t room = left.qp->capacity().max_send_wr;
  const std::vector<SendWr> more(room + 1, write_of(1, gather, server.buffer(10)));
  const auto posted = left.qp->post_send(more, Posting::kAllOrNone);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::not_enough_memory);
  EXPECT_EQ(posted.error().index, room);
  expect_service(left, right);
  EXPECT_EQ(ids(client.sent), Ids{991});
}

TEST_P(PostContract, AnEmptyListIsPosted) {
  EXPECT_TRUE(left.qp->post_send(std::span<const SendWr>()));
  EXPECT_TRUE(left.qp->post_receive(std::span<const RecvWr>()));
  expect_service(left, right);
}

TEST_P(PostContract, UnsignaledRequestsFillNoQueueWhenSomeAreSignaled) {
  constexpr std::uint64_t kRequests = 4000;
  const Buffer& target = server.buffer(10);
  for (std::uint64_t id = 1; id <= kRequests; ++id) {
    SendWr request = write_of(id, gather, target);
    request.flags = id % 16 == 0 ? SendFlags::kSignaled : SendFlags::kNone;
    std::errc refused{};
    ASSERT_TRUE(until([&] {
      refused = refusal(left.qp->post_send(request));
      return refused != std::errc::not_enough_memory;
    })) << "no room for request "
        << id;
    ASSERT_EQ(refused, std::errc{}) << id;
  }
  ASSERT_TRUE(until([&] { return client.sent.size() == kRequests / 16; }));
  for (std::size_t i = 0; i < client.sent.size(); ++i) {
    ASSERT_EQ(client.sent[i].wr_id, 16 * (i + 1));
  }
}

TEST_P(PostContract, UnsignaledRequestsAloneFillNoQueue) {
  IWARP_NEEDS(Capability::kUnsignaledFreesAtOnce);
  SendWr request = write_of(1, gather, server.buffer(10));
  request.flags = SendFlags::kNone;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(until([&] { return left.qp->post_send(request).has_value(); })) << i;
  }
  expect_service(left, right);
  EXPECT_EQ(ids(client.sent), Ids{991});
}

}  // namespace
}  // namespace iwarp::verbs::contract
