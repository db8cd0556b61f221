#include "misuse.hpp"

namespace iwarp::asio::test {
namespace {

using testing::HasSubstr;

/// Requests that no connection takes, or not this one, or not now.
class AsioMisusedRequests : public MisuseTest {};

TEST_F(AsioMisusedRequests, SendBeforeTheConnection) {
  const error_code early = end_of([&](auto handler) { client.async_send(text("hi"), handler); });
  EXPECT_EQ(early, errc::not_connected);
  EXPECT_EQ(early, condition::misuse);
  EXPECT_THAT(client.last_failure(), HasSubstr("Send: there is no connection yet"));
  EXPECT_THAT(client.last_failure(), HasSubstr("queue pair"));
  EXPECT_EQ(client.why(), "");
  connect_pair();  // it can still be connected
}

TEST_F(AsioMisusedRequests, RequestsBehindACloseAreTheCallers) {
  connect_pair();
  client.close();
  EXPECT_EQ(end_of([&](auto handler) { client.async_send(text("hi"), handler); }),
            net::error::operation_aborted);
}

TEST_F(AsioMisusedRequests, RequestsOfAConnectionMadeForNone) {
  connection mute(client_domain, {.max_sends = 0});
  EXPECT_EQ(end_of([&](auto handler) { mute.async_send(text("hi"), handler); }),
            errc::invalid_request);
  EXPECT_THAT(mute.last_failure(), HasSubstr("max_sends 0"));
}

TEST_F(AsioMisusedRequests, RequestsThatHaveAFunctionOfTheirOwn) {
  connect_pair();
  registered_buffer memory(client_domain, 8);
  const auto ask = [&](const send_request& request) {
    return [&, request](auto handler) { client.async_request(request, handler); };
  };
  expect_refused(
      errc::invalid_request, "async_fetch_add()",
      ask({.opcode = verbs::Opcode::kFetchAdd, .local = memory, .remote = there.remote()}));
  expect_refused(errc::invalid_request, "async_bind()",
                 ask({.opcode = verbs::Opcode::kBindWindow}));
  expect_refused(errc::invalid_request, "registered_memory",
                 ask({.opcode = verbs::Opcode::kRegister}));
  expect_refused(errc::invalid_request, "needs memory that is registered",
                 ask({.opcode = verbs::Opcode::kRead,
                      .unregistered = text("four"),
                      .remote = there.remote()}));
}

TEST_F(AsioMisusedRequests, RegisteredAndOtherMemoryInOneMessage) {
  connect_pair();
  registered_buffer memory(client_domain, 8);
  const send_request both{.local = memory, .unregistered = text("x")};
  expect_refused(errc::invalid_request, "both registered buffers and",
                 [&](auto handler) { client.async_request(both, handler); });
}

TEST_F(AsioMisusedRequests, TooManyBuffers) {
  connect_pair();
  registered_buffer here(client_domain, 64);
  const local_buffer one = here.part(0, 1);
  expect_refused(errc::too_many_buffers, "max_buffers", [&](auto handler) {
    client.async_send({one, one, one, one, one}, handler);
  });
  const std::vector<const_local_buffer> many(20, one);
  expect_refused(errc::too_many_buffers, "20 buffers",
                 [&](auto handler) { client.async_send(const_buffer_list(many), handler); });
}

TEST_F(AsioMisusedRequests, Rfc7306ThatWasNotAgreed) {
  connect_pair({.rfc7306 = false}, {.rfc7306 = false});
  expect_refused(errc::not_supported, "RFC 7306 is not in force",
                 [&](auto handler) { client.async_send_immediate(1, handler); });
}

TEST_F(AsioMisusedRequests, ReceiveIntoABufferBesideAPool) {
  registered_buffer memory(client_domain, 64);
  told<received> got;
  client.async_receive_into(memory, got.handler());
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(got.error, errc::has_message_pool);
  EXPECT_EQ(got.error, condition::misuse);
}

}  // namespace
}  // namespace iwarp::asio::test
